#include "engine/device/copy_queue.h"

#include "engine/device/precise_sleep.h"

#include <algorithm>
#include <cstring>

namespace engine {

namespace {

using Clock = std::chrono::steady_clock;

// A sleep takes some 50 us however short it is meant to be: what is too short for one is left to the next copy.
constexpr std::chrono::microseconds kWorthSleeping{100};

}  // namespace

CopyQueue::CopyQueue(double bytes_per_s)
    : bytes_per_s_(bytes_per_s)
    , thread_([this] { work(); })
{
}

CopyQueue::~CopyQueue()
{
    {
        const std::lock_guard lock(mutex_);
        quit_ = true;
    }
    given_.notify_one();
    thread_.join();
}

std::uint64_t CopyQueue::give(const std::byte* from, std::byte* to, std::size_t bytes)
{
    return give(Copy{from, to, bytes, {}, {}});
}

std::uint64_t CopyQueue::give(const KvRows& rows)
{
    return give(Copy{nullptr, nullptr, rows.bytes(), rows, {}});
}

std::uint64_t CopyQueue::give(Copy copy)
{
    copy.given = Clock::now();
    {
        const std::lock_guard lock(mutex_);
        waiting_.push_back(copy);
    }
    given_.notify_one();
    return ++last_given_;
}

void CopyQueue::wait(std::uint64_t number)
{
    if (ended(number))
        return;
    std::unique_lock lock(mutex_);
    done_.wait(lock, [&] { return ended(number); });
}

void CopyQueue::work()
{
    Clock::time_point free_at = {};
    for (;;) {
        Copy copy;
        {
            std::unique_lock lock(mutex_);
            given_.wait(lock, [&] { return quit_ || !waiting_.empty(); });
            if (waiting_.empty())
                return;
            copy = waiting_.front();
            waiting_.pop_front();
        }
        if (copy.from)
            std::memcpy(copy.to, copy.from, copy.bytes);
        else
            copy_kv_rows(copy.rows);
        if (bytes_per_s_ > 0) {
            // Counted from when the copy before was due, not from now: else the time that waking up takes would add up.
            free_at =
                std::max(free_at, copy.given) + std::chrono::duration_cast<Clock::duration>(
                                                    std::chrono::duration<double>(double(copy.bytes) / bytes_per_s_));
            if (free_at - Clock::now() > kWorthSleeping)
                precise_sleep_until(free_at);
        }
        bytes_moved_.fetch_add(std::int64_t(copy.bytes), std::memory_order_relaxed);
        {
            const std::lock_guard lock(mutex_);
            ended_.fetch_add(1, std::memory_order_release);
        }
        done_.notify_one();
    }
}

}  // namespace engine
