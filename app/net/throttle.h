// Throttle limits the bytes a second that come over all connections together.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>

namespace net {

/// Any thread.
class Throttle
{
public:
    /// `most_per_s` is asked for each piece, so that a new limit holds at once; 0 or less, or none: there is no limit.
    explicit Throttle(std::function<std::int64_t()> most_per_s)
        : most_per_s_(std::move(most_per_s))
    {
    }
    /// Returns when these bytes, which are here, have taken as long as they may not be faster than; or when stopped.
    void wait_for(std::int64_t bytes, const std::stop_token& stop);

private:
    std::function<std::int64_t()> most_per_s_;
    std::mutex mutex_;
    std::condition_variable_any nothing_;
    std::chrono::steady_clock::time_point next_;  // when the next bytes may come
};

}  // namespace net
