// One layer's weights in a device's memory: the same bytes, at other addresses.
#pragma once

#include "engine/device/vram.h"
#include "engine/model/weights.h"

namespace engine {

class DeviceLayer
{
public:
    /// Bytes a layer takes on a device.
    static std::int64_t bytes(const LayerWeights& weights, const Hyperparameters& h, int l);

    /// Begins the copy; the weights can be used once wait() has said so. DeviceFull, DeviceLost.
    static Result<DeviceLayer> copy(Vram& vram, const LayerWeights& weights, const Hyperparameters& h, int l);
    Status wait();

    DeviceLayer(DeviceLayer&& other) noexcept;
    DeviceLayer& operator=(DeviceLayer&&) = delete;
    ~DeviceLayer();

    const LayerWeights& weights() const { return weights_; }
    std::int64_t bytes() const { return std::int64_t(bytes_); }

private:
    DeviceLayer(Vram& vram, DevicePtr memory, std::size_t bytes, const LayerWeights& weights)
        : vram_(&vram)
        , memory_(memory)
        , bytes_(bytes)
        , weights_(weights)
    {
    }

    Vram* vram_;
    DevicePtr memory_;
    std::size_t bytes_;
    Device::Ticket coming_ = 0;
    LayerWeights weights_;
};

}  // namespace engine
