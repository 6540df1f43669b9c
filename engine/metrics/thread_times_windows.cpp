// Measures what a thread got of the cores.
#include "engine/thread_times.h"

#include <windows.h>

#include <algorithm>
#include <cstdint>

namespace engine {

std::optional<ThreadTimes> this_threads_times()
{
    FILETIME created = {}, ended = {}, system = {}, user = {}, now = {};
    if (!::GetThreadTimes(::GetCurrentThread(), &created, &ended, &system, &user))
        return {};
    ::GetSystemTimeAsFileTime(&now);
    const auto seconds = [](const FILETIME& time) {
        return static_cast<double>(std::uint64_t(time.dwHighDateTime) << 32 | time.dwLowDateTime) / 1e7;
    };
    const double ran_s = seconds(system) + seconds(user);
    return ThreadTimes{ran_s, std::max(0.0, seconds(now) - seconds(created) - ran_s)};
}

}  // namespace engine
