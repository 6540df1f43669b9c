// OpenedDevice holds a device that was opened for a model, with all that manages its memory, before anything of the
// model lies there.
#pragma once

#include "engine/device/emulated_device.h"
#include "engine/exec/cuda_backend.h"
#include "engine/kv/kv_pager.h"
#include "engine/plan/device_bytes.h"

#include <memory>
#include <string>
#include <vector>

namespace engine {

/// The members stand in the order in which they are made. Belongs to ModelPlacement. Without a device: the host alone.
struct OpenedDevice {
    PlacementOptions options;  // it was opened with
    DeviceLayout layout;
    std::unique_ptr<Device> device = {};
    EmulatedDevice* emulated = nullptr;  // the same, where it is one
    std::unique_ptr<Vram> vram = {};
    std::unique_ptr<CudaBackend> cuda = {};
    std::string cuda_name = {};  // of a GPU, with its driver
    std::unique_ptr<DeviceKv> kv = {};
    std::unique_ptr<KvStream> stream = {};
    std::unique_ptr<KvPager> pager = {};
};

/// The conversation whose KV comes back first when a device is changed between two steps.
struct KvInUse {
    std::vector<PageId> pages;
    int tokens = 0;
    std::vector<TokenRange> pins;
};

}  // namespace engine
