// DeviceMemory holds what a check puts on a device: one queue, and memory that is given back at the end.
#pragma once

#include "kernels/cuda/driver.h"

#include <cstddef>
#include <vector>

namespace kernels::cuda {

/// The first call that fails is kept; vectors that come back after it are zeros.
class DeviceMemory
{
public:
    explicit DeviceMemory(const Driver& driver)
        : driver_(driver)
        , queue_(keep(driver.make_queue()))
    {
    }
    ~DeviceMemory()
    {
        if (queue_)
            (void)driver_.synchronize(queue_);
        for (const DevicePtr ptr : allocations_)
            (void)driver_.free(ptr);
        if (queue_)
            (void)driver_.destroy(queue_);
    }
    DeviceMemory(const DeviceMemory&) = delete;
    DeviceMemory& operator=(const DeviceMemory&) = delete;

    const Driver& driver() const { return driver_; }
    Queue queue() const { return queue_; }
    Status status() const { return status_; }
    bool ok() const { return status_ == Status::Ok; }

    void keep(Status status) const
    {
        if (ok())
            status_ = status;
    }
    template <class T>
    T keep(const Answer<T>& answer) const
    {
        keep(answer.status);
        return answer.status == Status::Ok ? answer.value : T{};
    }

    template <class T>
    DevicePtr put(const std::vector<T>& values)
    {
        const DevicePtr at = room(values.size() * sizeof(T));
        if (ok())
            keep(driver_.copy_to_device(at, values.data(), values.size() * sizeof(T), queue_));
        return at;
    }
    /// Returns memory whose contents are undefined, in whole multiples of 16 bytes. Weights are read by aligned 16
    /// bytes, of which one at least is theirs: no device minds, but tools that watch each access would report a fault.
    DevicePtr room(std::size_t bytes)
    {
        const DevicePtr at = ok() ? keep(driver_.alloc(bytes > 0 ? (bytes + 15) / 16 * 16 : 16)) : 0;
        if (at)
            allocations_.push_back(at);
        return at;
    }
    template <class T>
    std::vector<T> get(DevicePtr at, std::size_t count) const
    {
        std::vector<T> values(count);
        if (ok())
            keep(driver_.copy_to_host(values.data(), at, count * sizeof(T), queue_));
        if (ok())
            keep(driver_.synchronize(queue_));
        return values;
    }

private:
    const Driver& driver_;
    mutable Status status_ = Status::Ok;
    std::vector<DevicePtr> allocations_;
    Queue queue_ = nullptr;
};

}  // namespace kernels::cuda
