// Throttle limits the bytes a second that come over all connections together.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>

namespace net {

/// Shared by all connections; any thread.
class Throttle
{
public:
    /// `most_per_s` is called for each piece, so that a new limit holds at once; empty, or 0 or less: no limit.
    explicit Throttle(std::function<std::int64_t()> most_per_s)
        : most_per_s_(std::move(most_per_s))
    {
    }
    /// Takes bytes that have come, and waits until they have taken as long as the limit demands, or until stopped.
    void wait_for(std::int64_t bytes, const std::stop_token& stop);

private:
    std::function<std::int64_t()> most_per_s_;
    std::mutex mutex_;
    std::condition_variable_any nothing_;
    std::chrono::steady_clock::time_point next_;  // when the next bytes may come
};

}  // namespace net
