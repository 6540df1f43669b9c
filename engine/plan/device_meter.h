// DeviceMeter times what is queued for a GPU, and holds the memory in which it works.
#pragma once

#include "engine/device/cuda_device.h"

#include <cstddef>
#include <functional>

namespace engine {

/// Holds memory of the device as long as it lives: at most 512 MB, and an eighth of it. Used on the engine's thread.
class DeviceMeter
{
public:
    /// Takes the memory to measure with. DeviceFull, DeviceLost.
    static Result<DeviceMeter> make(CudaDevice& device);
    ~DeviceMeter();
    DeviceMeter(DeviceMeter&& other) noexcept;
    DeviceMeter& operator=(DeviceMeter&&) = delete;

    /// Returns the seconds of one call of what is queued for the device: the median of some, after one that does not
    /// count. DeviceLost.
    Result<double> seconds(const std::function<kernels::cuda::Status()>& queue_work) const;

    CudaDevice& device() const { return *device_; }
    DevicePtr memory() const { return memory_; }
    std::size_t bytes() const { return bytes_; }
    /// Returns DeviceFull: the memory is too small for what is to be measured.
    tl::unexpected<Error> too_small() const;

private:
    DeviceMeter(CudaDevice& device, DevicePtr memory, std::size_t bytes)
        : device_(&device)
        , memory_(memory)
        , bytes_(bytes)
    {
    }

    CudaDevice* device_;
    DevicePtr memory_;
    std::size_t bytes_;
};

}  // namespace engine
