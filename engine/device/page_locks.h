// PageLocks page-locks memory of the host's for a GPU, on a thread of its own: the driver takes milliseconds for some
// megabytes, since it has the system give each page first.
#pragma once

#include "engine/device/driver_gate.h"
#include "kernels/cuda/driver.h"

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace engine {

/// Returns how much of the host's memory may be page-locked, of so much in all. Nothing else can have that memory, also
/// while no conversation uses it: what desktops and browsers need is left to them, and where there is little, a quarter
/// is locked. Windows does not lock more than half, and elsewhere the files of models need the other half.
constexpr std::int64_t most_page_locked(std::int64_t total_bytes)
{
    constexpr std::int64_t kForOthers = std::int64_t(8) << 30;
    return std::clamp(total_bytes - kForOthers, total_bytes / 4, total_bytes / 2);
}

/// Owned by a CudaDevice, on its thread.
class PageLocks
{
public:
    /// Locks this many bytes at most.
    PageLocks(const kernels::cuda::Driver& driver, DriverGate& gate, std::int64_t most_bytes)
        : driver_(driver)
        , gate_(gate)
        , most_bytes_(most_bytes)
    {
    }
    ~PageLocks();  // unlocks all
    PageLocks(const PageLocks&) = delete;
    PageLocks& operator=(const PageLocks&) = delete;

    /// Queues the memory to be locked soon. Where the driver refuses, it stays as it is: copies are slower, but right.
    void lock(std::byte* memory, std::size_t bytes);
    /// Sees to it that the memory is not locked when this returns, nor later. No copy from or to it may run meanwhile.
    void unlock(std::byte* memory);
    /// Waits until all that was given to lock() is locked or refused.
    void settle();

private:
    struct Piece {
        std::byte* memory = nullptr;
        std::size_t bytes = 0;
    };
    bool start();
    bool lock_now(const Piece& piece);
    void work();

    const kernels::cuda::Driver& driver_;
    DriverGate& gate_;
    const std::int64_t most_bytes_;
    std::int64_t bytes_ = 0;  // locked, or about to be
    std::mutex mutex_;
    std::condition_variable given_, done_;
    std::deque<Piece> waiting_;
    std::byte* under_way_ = nullptr;
    std::vector<Piece> locked_;
    bool quit_ = false;
    std::thread thread_;  // none until the first piece
};

}  // namespace engine
