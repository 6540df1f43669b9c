// CudaDevice reaches a GPU through the CUDA driver: its memory, a queue to compute in, and one for each direction. Its
// backend is CudaBackend.
#pragma once

#include "engine/device/device.h"
#include "engine/device/driver_gate.h"
#include "engine/device/page_locks.h"
#include "engine/device/video_memory.h"
#include "kernels/cuda/driver.h"

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <vector>

namespace engine {

class CudaDevice final : public Device
{
public:
    /// Opens the GPU of this number. Unsupported: there is no such device, or it cannot be used; the sentence says why.
    static Result<std::unique_ptr<CudaDevice>> open(int ordinal);
    ~CudaDevice() override;
    CudaDevice(const CudaDevice&) = delete;
    CudaDevice& operator=(const CudaDevice&) = delete;

    /// Returns the driver, current on the calling thread, whatever other device was opened or closed there since.
    const kernels::cuda::Driver& driver() const
    {
        (void)driver_->make_current();  // a lost device fails at the next call
        return *driver_;
    }
    kernels::cuda::Queue compute() const { return compute_; }
    /// Returns a driver call's status as the engine's: a failure other than lack of memory means that the device is
    /// lost.
    Status checked(kernels::cuda::Status status) const;
    /// Returns the gate for steps in which the device waits for the host.
    DriverGate& gate() { return gate_; }
    /// Notes that something was given to compute: memory is not released before it is done.
    void note_work() { computing_ = true; }
    /// Waits until all that was given to compute is done.
    Status finish_work() override;

    std::string_view id() const override { return id_; }
    std::int64_t total_bytes() const override { return std::int64_t(driver_->info().memory_bytes); }
    /// Counts the driver's own context, too. Driver and system are asked ten times a second at most.
    std::int64_t other_programs_bytes() const override;
    std::optional<std::int64_t> spilled_bytes() const override;
    std::size_t granularity() const override { return kGranularity; }
    Result<DevicePtr> allocate(std::size_t bytes) override;
    Result<DevicePtr> allocate_zeroed(std::size_t bytes) override;
    void release(DevicePtr memory, std::size_t bytes) override;
    using Device::to_device;
    Result<Ticket> to_device(const std::byte* from, DevicePtr to, std::size_t bytes, Batch batch) override;
    /// Copies keys by whole groups of tokens, so that only heads have gaps between them: the bytes of neighbouring
    /// tokens are the same on both sides, or have no meaning yet.
    Result<Ticket> to_host(const KvRows& rows) override;
    Result<Ticket> to_host(DevicePtr from, std::byte* to, std::size_t bytes) override;
    Status clear(DevicePtr memory, std::size_t bytes) override;
    Status copy_within(DevicePtr from, DevicePtr to, std::size_t bytes) override;
    bool ended(Direction direction, Ticket ticket) const override;
    Status wait(Direction direction, Ticket ticket) override;
    bool orders_itself() const override { return true; }
    Status compute_after(Direction direction, Ticket ticket) override;
    Status copy_after_compute(Direction direction) override;
    bool locks_pages() const override { return true; }
    void pin(std::byte* memory, std::size_t bytes) override { page_locks_->lock(memory, bytes); }
    void unpin(std::byte* memory, std::size_t /*bytes*/) override { page_locks_->unlock(memory); }
    void settle_pins() override { page_locks_->settle(); }
    std::int64_t bytes_moved(Direction direction) const override { return lane(direction).bytes_moved; }

private:
    // Drivers round allocations that are not small up to a multiple of this.
    static constexpr std::size_t kGranularity = std::size_t(2) << 20;

    struct Mark {
        Ticket ticket = 0;  // the newest that has ended when the event has happened
        kernels::cuda::Event event = nullptr;
    };
    /// One direction: a queue of the driver's, and events behind copies that have not been seen to end.
    struct Lane {
        kernels::cuda::Queue queue = nullptr;
        kernels::cuda::Event computed = nullptr;
        Ticket given = 0;
        Ticket marked = 0;  // copies above it have no event behind them yet
        Ticket ended = 0;
        std::deque<Mark> marks;
        std::vector<kernels::cuda::Event> spare;
        std::int64_t bytes_moved = 0;
    };

    explicit CudaDevice(std::unique_ptr<kernels::cuda::Driver> driver);
    Status make_queues();
    Lane& lane(Direction direction) const { return direction == Direction::ToDevice ? to_device_ : to_host_; }
    Status copy_rows(const KvRows& rows, std::size_t offset, std::size_t row_bytes, int first, int last);
    Ticket give(Lane& lane, std::size_t bytes);
    Status mark(Lane& lane) const;
    Result<kernels::cuda::Event> mark_of(Lane& lane, Ticket ticket) const;
    void note_ended(Lane& lane) const;

    void ask_for_memory() const;

    std::unique_ptr<kernels::cuda::Driver> driver_;
    std::string id_;
    std::unique_ptr<VideoMemoryProbe> probe_;  // null: the system says nothing
    kernels::cuda::Queue compute_ = nullptr;
    bool computing_ = false;
    mutable Lane to_device_, to_host_;
    kernels::cuda::Queue zeroing_ = nullptr;  // beside compute, for other threads
    std::atomic<std::int64_t> used_bytes_ = 0;
    DriverGate& gate_;
    std::unique_ptr<PageLocks> page_locks_;
    mutable std::int64_t other_programs_bytes_ = 0;
    mutable std::chrono::steady_clock::time_point asked_at_{};
    mutable std::int64_t besides_bytes_ = 0;         // of this program: the driver's context, the window's pictures
    std::atomic<std::int64_t> allocated_bytes_ = 0;  // of those used: not what a thread is still waiting for
    mutable std::optional<std::int64_t> spilled_bytes_;
};

}  // namespace engine
