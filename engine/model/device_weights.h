// DeviceWeights holds weights in a device's memory: the same bytes, at other addresses.
#pragma once

#include "engine/device/vram.h"
#include "engine/model/weights.h"

namespace engine {

/// Returns the bytes that a tensor takes in a device's memory, so that the next one is aligned as kernels need it.
std::size_t aligned_on_device(std::size_t bytes);

/// A copy of the weights of one layer or a part of it, or of the head.
template <class W>
class DeviceWeights
{
public:
    /// Returns the bytes the copy takes. `l`: the layer's number; of no meaning for the head, which has no parts
    /// either.
    static std::int64_t bytes(const W& weights, const Hyperparameters& h, int l, LayerPart part = LayerPart::Whole);

    /// Begins the copy; the weights can be used once wait() has said so. DeviceFull, DeviceLost.
    static Result<DeviceWeights> copy(Vram& vram, const W& weights, const Hyperparameters& h, int l,
                                      LayerPart part = LayerPart::Whole);
    Status wait();

    DeviceWeights(DeviceWeights&& other) noexcept;
    DeviceWeights& operator=(DeviceWeights&&) = delete;
    ~DeviceWeights();

    /// Returns the weights: those of the copied part lie on the device, the others where they were.
    const W& weights() const { return weights_; }
    std::int64_t bytes() const { return std::int64_t(bytes_); }

private:
    DeviceWeights(Vram& vram, DevicePtr memory, std::size_t bytes, const W& weights)
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
    W weights_;
};

using DeviceLayer = DeviceWeights<LayerWeights>;
using DeviceHead = DeviceWeights<HeadWeights>;

}  // namespace engine
