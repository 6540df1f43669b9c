#include "engine/device/page_locks.h"

#include <algorithm>
#include <system_error>

namespace engine {

using CudaStatus = kernels::cuda::Status;

PageLocks::~PageLocks()
{
    {
        const std::lock_guard lock(mutex_);
        quit_ = true;
    }
    given_.notify_one();
    if (thread_.joinable())
        thread_.join();
    (void)driver_.make_current();
    for (const Piece& piece : locked_)
        (void)driver_.unpin(piece.memory);
}

/// Starts the thread where there is none. False: the system gives no more threads, and nothing is locked.
bool PageLocks::start()
{
    if (thread_.joinable())
        return true;
    try {
        thread_ = std::thread([this] { work(); });
    } catch (const std::system_error&) {
        return false;
    }
    return true;
}

void PageLocks::lock(std::byte* memory, std::size_t bytes)
{
    const std::lock_guard lock(mutex_);
    if (bytes_ + std::int64_t(bytes) > most_bytes_ || !start())
        return;
    locked_.reserve(locked_.size() + waiting_.size() + 2);  // the thread allocates nothing
    waiting_.push_back({memory, bytes});
    bytes_ += std::int64_t(bytes);
    given_.notify_one();
}

void PageLocks::unlock(std::byte* memory)
{
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return under_way_ != memory; });
    const auto is_it = [&](const Piece& piece) { return piece.memory == memory; };
    if (const auto found = std::ranges::find_if(waiting_, is_it); found != waiting_.end()) {
        bytes_ -= std::int64_t(found->bytes);
        waiting_.erase(found);
        return;
    }
    if (const auto found = std::ranges::find_if(locked_, is_it); found != locked_.end()) {
        bytes_ -= std::int64_t(found->bytes);
        locked_.erase(found);
        lock.unlock();
        (void)driver_.make_current();
        (void)driver_.unpin(memory);  // a lost device has let go of it
    }
}

void PageLocks::settle()
{
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return !under_way_ && waiting_.empty(); });
}

bool PageLocks::lock_now(const Piece& piece)
{
    const DriverGate::Call call(gate_);
    return driver_.make_current() == CudaStatus::Ok && driver_.pin(piece.memory, piece.bytes) == CudaStatus::Ok;
}

void PageLocks::work()
{
    std::unique_lock lock(mutex_);
    for (;;) {
        given_.wait(lock, [&] { return quit_ || !waiting_.empty(); });
        if (quit_)
            return;
        const Piece piece = waiting_.front();
        waiting_.pop_front();
        under_way_ = piece.memory;
        lock.unlock();
        const bool done = lock_now(piece);
        lock.lock();
        under_way_ = nullptr;
        if (done)
            locked_.push_back(piece);
        else
            bytes_ -= std::int64_t(piece.bytes);
        done_.notify_all();
    }
}

}  // namespace engine
