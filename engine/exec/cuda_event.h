// CudaEvent owns an event of the driver's: it is recorded in a queue, and can be waited for until the queue gets there.
#pragma once

#include "engine/device/cuda_device.h"

namespace engine {

class CudaEvent
{
public:
    CudaEvent() = default;
    ~CudaEvent()
    {
        if (event_)
            (void)driver_->destroy(event_);
    }
    CudaEvent(const CudaEvent&) = delete;
    CudaEvent& operator=(const CudaEvent&) = delete;

    /// Call it once. DeviceFull, DeviceLost.
    Status make(const CudaDevice& device)
    {
        driver_ = &device.driver();
        const auto made = driver_->make_event();
        event_ = made.value;
        return device.checked(made.status);
    }
    kernels::cuda::Event get() const { return event_; }

private:
    const kernels::cuda::Driver* driver_ = nullptr;
    kernels::cuda::Event event_ = nullptr;
};

}  // namespace engine
