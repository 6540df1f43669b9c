// EmulatedDevice plays a device in host memory: a VRAM of a set size, a link of a set speed, and a dial for what other
// programs hold. Its backend is the CPU's.
#pragma once

#include "engine/device/copy_queue.h"
#include "engine/device/device.h"
#include "engine/placement_options.h"

namespace engine {

class EmulatedDevice final : public Device
{
public:
    /// Throws std::system_error where the system gives no more threads.
    EmulatedDevice(const EmulatedDeviceOptions& options, std::int64_t vram_bytes);

    void set_other_programs_bytes(std::int64_t bytes) { other_programs_bytes_ = bytes; }

    std::string_view id() const override { return "emulated"; }
    std::int64_t total_bytes() const override { return total_bytes_; }
    std::int64_t other_programs_bytes() const override { return other_programs_bytes_; }
    Result<DevicePtr> allocate(std::size_t bytes) override;
    Result<DevicePtr> allocate_zeroed(std::size_t bytes) override;
    void release(DevicePtr memory, std::size_t bytes) override;
    using Device::to_device;
    Result<Ticket> to_device(const std::byte* from, DevicePtr to, std::size_t bytes, Batch batch) override;
    Result<Ticket> to_host(const KvRows& rows) override;
    Result<Ticket> to_host(DevicePtr from, std::byte* to, std::size_t bytes) override;
    Status clear(DevicePtr memory, std::size_t bytes) override;
    Status copy_within(DevicePtr from, DevicePtr to, std::size_t bytes) override;
    bool ended(Direction direction, Ticket ticket) const override { return queue(direction).ended(ticket); }
    Status wait(Direction direction, Ticket ticket) override;
    std::int64_t bytes_moved(Direction direction) const override { return queue(direction).bytes_moved(); }

private:
    CopyQueue& queue(Direction direction) { return direction == Direction::ToDevice ? to_device_ : to_host_; }
    const CopyQueue& queue(Direction direction) const
    {
        return direction == Direction::ToDevice ? to_device_ : to_host_;
    }
    /// Counts a call; fails when the device is gone.
    Status call();

    EmulatedDeviceOptions options_;
    std::int64_t total_bytes_;
    std::int64_t used_bytes_ = 0;
    std::int64_t other_programs_bytes_ = 0;
    int calls_ = 0, allocations_ = 0;
    CopyQueue to_device_, to_host_;
};

}  // namespace engine
