// Lists this machine's devices, its CPU and its GPUs, and tells how much memory it has.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace engine {

struct DeviceInfo {
    std::string id;           // "cpu", "cuda:0"
    std::string description;  // "2 cores"; of a GPU its name
    std::string obstacle;     // why it cannot be used, as a part of a sentence; empty: it can
    std::string kernels;      // the kernel table in use
    std::vector<std::string> all_kernels;
    int cores = 0;  // of a GPU: multiprocessors
    std::optional<std::int64_t> memory_total_bytes;
    std::optional<std::int64_t> memory_available_bytes;
};

/// Lists the cpu, and the GPUs that the machine's driver knows. Starting the driver may take a second.
std::vector<DeviceInfo> devices();
/// Says, as a part of a sentence, why devices() has no GPU; empty: it has one.
std::string why_no_gpu();
/// Says whether a graphics card of NVIDIA's is in this machine, also where no driver for it is installed.
bool has_nvidia_card();

/// Returns the first of devices(), the cpu; no driver is started.
DeviceInfo cpu_device();

/// RAM of this machine, or of the container that this process is in.
struct MachineMemory {
    std::optional<std::int64_t> total_bytes;
    std::optional<std::int64_t> available_bytes;  // of it, what can be had without swapping
    std::int64_t held_bytes = 0;                  // what the open model holds beside its file

    /// Returns what can be had once the open model has given back what it holds.
    std::optional<std::int64_t> for_next_model_bytes() const
    {
        return available_bytes ? std::optional(*available_bytes + held_bytes) : std::nullopt;
    }
};
MachineMemory machine_memory();

/// Returns one sentence when SPILLWAY_CPU names a kernel table that does not run here; else nothing.
std::string forced_kernels_warning();

}  // namespace engine
