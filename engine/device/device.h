// Device is a device as the engine sees it: memory, and copies between it and the host. A Backend computes there. The
// engine's thread calls everything here; copies run on their own and are waited for by ticket.
#pragma once

#include "engine/device/kv_rows.h"
#include "engine/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace engine {

/// An address in a device's memory. Only the device, and the backend that computes on it, may follow it.
using DevicePtr = std::byte*;

class Device
{
public:
    /// Copies of one direction are numbered from 1 in their order, and end in it. 0 has always ended.
    using Ticket = std::uint64_t;
    enum class Direction { ToDevice, ToHost };

    virtual ~Device() = default;

    virtual std::string_view id() const = 0;
    virtual std::int64_t total_bytes() const = 0;
    /// Returns what other programs hold of it now.
    virtual std::int64_t other_programs_bytes() const = 0;
    /// Returns how much of what was allocated here the system has put into the host's memory instead. Empty: it cannot
    /// tell.
    virtual std::optional<std::int64_t> spilled_bytes() const { return std::nullopt; }

    /// Returns a number of bytes: an allocation may take a multiple of it.
    virtual std::size_t granularity() const { return 1; }
    /// Allocates memory, aligned to 256 bytes. DeviceFull, DeviceLost.
    virtual Result<DevicePtr> allocate(std::size_t bytes) = 0;
    /// Does the same; the memory is all zero when this returns. Where orders_itself(), any thread may call it.
    virtual Result<DevicePtr> allocate_zeroed(std::size_t bytes) = 0;
    /// Releases memory, which nothing that is on its way may still touch.
    virtual void release(DevicePtr memory, std::size_t bytes) = 0;

    /// Says whether somebody will wait for this copy, or only for one that follows it. Then the device need not mark
    /// where this one ends, which saves time between them.
    enum class Batch { Ends, GoesOn };
    /// Begins a copy. What is copied must stay as it is until the ticket has ended. DeviceLost.
    virtual Result<Ticket> to_device(const std::byte* from, DevicePtr to, std::size_t bytes, Batch batch) = 0;
    Result<Ticket> to_device(const std::byte* from, DevicePtr to, std::size_t bytes)
    {
        return to_device(from, to, bytes, Batch::Ends);
    }
    virtual Result<Ticket> to_host(const KvRows& rows) = 0;
    virtual Result<Ticket> to_host(DevicePtr from, std::byte* to, std::size_t bytes) = 0;
    virtual Status clear(DevicePtr memory, std::size_t bytes) = 0;
    /// Copies within the device, in the order of what is computed.
    virtual Status copy_within(DevicePtr from, DevicePtr to, std::size_t bytes) = 0;

    virtual bool ended(Direction direction, Ticket ticket) const = 0;
    virtual Status wait(Direction direction, Ticket ticket) = 0;

    // What is computed and what is copied may run beside each other; a device whose backend has done everything when a
    // call returns has nothing to order.

    /// Waits until all that was given to compute is done. DeviceLost.
    virtual Status finish_work() { return {}; }
    /// Says whether what is computed waits for copies by itself: then the host need not.
    virtual bool orders_itself() const { return false; }
    /// Lets what is computed from now on begin when the copy has ended.
    virtual Status compute_after(Direction direction, Ticket ticket) { return wait(direction, ticket); }
    /// Copies from now on begin when all that was given to compute so far is done.
    virtual Status copy_after_compute(Direction /*direction*/) { return {}; }

    /// Says whether pin() is to be called long before memory of the host is copied from or to.
    virtual bool locks_pages() const { return false; }
    /// Page-locks memory of the host, some time after this has returned, so that copies from and to it are faster. It
    /// stays allocated until unpin(), or as long as the device.
    virtual void pin(std::byte* /*memory*/, std::size_t /*bytes*/) {}
    /// Call it before memory that pin() was given is freed, while no copy from or to it is on its way.
    virtual void unpin(std::byte* /*memory*/, std::size_t /*bytes*/) {}
    /// Waits until what pin() was given is page-locked.
    virtual void settle_pins() {}

    /// Returns the bytes that have travelled since the device was opened.
    virtual std::int64_t bytes_moved(Direction direction) const = 0;
};

}  // namespace engine
