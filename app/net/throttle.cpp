#include "app/net/throttle.h"

#include <algorithm>

namespace net {

void Throttle::wait_for(std::int64_t bytes, const std::stop_token& stop)
{
    using Clock = std::chrono::steady_clock;
    const std::int64_t most = most_per_s_ ? most_per_s_() : 0;
    if (most <= 0)
        return;
    const auto took = std::chrono::duration<double>(double(bytes) / double(most));
    std::unique_lock lock(mutex_);
    // After a pause in which nothing came, bytes may not come faster to make up for it.
    const auto until = std::max(next_, Clock::now()) + std::chrono::duration_cast<Clock::duration>(took);
    next_ = until;
    nothing_.wait_until(lock, stop, until, [] { return false; });
}

}  // namespace net
