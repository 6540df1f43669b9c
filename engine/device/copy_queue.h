// CopyQueue is one direction of a link: it copies in the order asked for, on a thread of its own, at a set speed.
#pragma once

#include "engine/device/kv_rows.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>

namespace engine {

class CopyQueue
{
public:
    /// `bytes_per_s` 0: as fast as memory is. Throws std::system_error where the system gives no more threads.
    explicit CopyQueue(double bytes_per_s);
    ~CopyQueue();  // what was given is still copied
    CopyQueue(const CopyQueue&) = delete;
    CopyQueue& operator=(const CopyQueue&) = delete;

    /// Queues a copy and returns its number, from 1. Its time on the link begins now, or when the copy before it leaves
    /// the link. One thread calls this.
    std::uint64_t give(const std::byte* from, std::byte* to, std::size_t bytes);
    std::uint64_t give(const KvRows& rows);

    bool ended(std::uint64_t number) const { return ended_.load(std::memory_order_acquire) >= number; }
    void wait(std::uint64_t number);
    std::int64_t bytes_moved() const { return bytes_moved_.load(std::memory_order_relaxed); }

private:
    struct Copy {
        const std::byte* from = nullptr;  // null: rows
        std::byte* to = nullptr;
        std::size_t bytes = 0;
        KvRows rows;
        std::chrono::steady_clock::time_point given = {};
    };
    std::uint64_t give(Copy copy);
    void work();

    const double bytes_per_s_;
    std::mutex mutex_;
    std::condition_variable given_, done_;
    std::deque<Copy> waiting_;
    bool quit_ = false;
    std::uint64_t last_given_ = 0;
    std::atomic<std::uint64_t> ended_{0};
    std::atomic<std::int64_t> bytes_moved_{0};
    std::thread thread_;
};

}  // namespace engine
