// now_us() reads the monotonic clock that telemetry, events and measurements share.
#pragma once

#include <chrono>
#include <cstdint>

namespace engine {

inline std::int64_t now_us()
{
    using namespace std::chrono;
    return duration_cast<microseconds>(steady_clock::now().time_since_epoch()).count();
}

}  // namespace engine
