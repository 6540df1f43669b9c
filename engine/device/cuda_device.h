// CudaDevice reaches a GPU through the CUDA driver: its memory, a queue to compute in, and one for each direction. Its
// backend is CudaBackend.
#pragma once

#include "engine/device/device.h"
#include "engine/device/video_memory.h"
#include "kernels/cuda/driver.h"

#include <chrono>
#include <deque>
#include <memory>
#include <vector>

namespace engine {

class CudaDevice final : public Device
{
public:
    /// Unsupported: there is no such device, or it cannot be used; the sentence says why.
    static Result<std::unique_ptr<CudaDevice>> open(int ordinal);
    ~CudaDevice() override;
    CudaDevice(const CudaDevice&) = delete;
    CudaDevice& operator=(const CudaDevice&) = delete;

    /// Current on the calling thread, whatever other device was opened or closed there since.
    const kernels::cuda::Driver& driver() const
    {
        (void)driver_->make_current();  // one that is lost fails what is asked of it next
        return *driver_;
    }
    kernels::cuda::Queue compute() const { return compute_; }
    /// What a driver call answered, as the engine says it: a device that does anything but its work is lost.
    Status checked(kernels::cuda::Status status) const;
    /// Something was given to compute: memory is not released before it is done.
    void note_work() { computing_ = true; }
    /// Waits until all that was given to compute is done.
    Status finish_work();

    std::string_view id() const override { return id_; }
    std::int64_t total_bytes() const override { return std::int64_t(driver_->info().memory_bytes); }
    /// The driver's own context included. Asked of the driver and the system ten times a second at most.
    std::int64_t other_programs_bytes() const override;
    std::optional<std::int64_t> spilled_bytes() const override;
    Result<DevicePtr> allocate(std::size_t bytes) override;
    void release(DevicePtr memory, std::size_t bytes) override;
    Result<Ticket> to_device(const std::byte* from, DevicePtr to, std::size_t bytes) override;
    /// Keys are copied by whole groups of tokens, so that heads are the only gaps: the neighbours' bytes are the same
    /// on both sides, or not yet of any meaning.
    Result<Ticket> to_host(const KvRows& rows) override;
    Result<Ticket> to_host(DevicePtr from, std::byte* to, std::size_t bytes) override;
    Status clear(DevicePtr memory, std::size_t bytes) override;
    bool ended(Direction direction, Ticket ticket) const override;
    Status wait(Direction direction, Ticket ticket) override;
    bool orders_itself() const override { return true; }
    Status compute_after(Direction direction, Ticket ticket) override;
    Status copy_after_compute(Direction direction) override;
    void pin(std::byte* memory, std::size_t bytes) override;
    void unpin(std::byte* memory, std::size_t bytes) override;
    std::int64_t bytes_moved(Direction direction) const override { return lane(direction).bytes_moved; }

private:
    struct Mark {
        Ticket ticket = 0;
        kernels::cuda::Event event = nullptr;
    };
    /// One direction: a queue of the driver's, and an event after each copy that has not been seen to end.
    struct Lane {
        kernels::cuda::Queue queue = nullptr;
        kernels::cuda::Event computed = nullptr;
        Ticket given = 0;
        Ticket ended = 0;
        std::deque<Mark> marks;
        std::vector<kernels::cuda::Event> spare;
        std::int64_t bytes_moved = 0;
    };

    explicit CudaDevice(std::unique_ptr<kernels::cuda::Driver> driver);
    Status make_queues();
    Lane& lane(Direction direction) const { return direction == Direction::ToDevice ? to_device_ : to_host_; }
    Status copy_rows(const KvRows& rows, std::size_t offset, std::size_t row_bytes, int first, int last);
    Result<Ticket> mark(Lane& lane, std::size_t bytes);
    void note_ended(Lane& lane) const;

    void ask_for_memory() const;

    std::unique_ptr<kernels::cuda::Driver> driver_;
    std::string id_;
    VideoMemoryProbe probe_;
    kernels::cuda::Queue compute_ = nullptr;
    bool computing_ = false;
    mutable Lane to_device_, to_host_;
    std::int64_t used_bytes_ = 0;
    std::vector<std::byte*> pinned_;
    std::int64_t pinned_bytes_ = 0, most_pinned_bytes_ = 0;
    mutable std::int64_t other_programs_bytes_ = 0;
    mutable std::optional<VideoMemory> video_memory_;
    mutable std::chrono::steady_clock::time_point asked_at_{};
};

}  // namespace engine
