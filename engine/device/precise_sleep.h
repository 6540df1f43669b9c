// Sleeps for less than a clock tick.
#pragma once

#include <chrono>

namespace engine {

/// Returns at `time` or later: as soon after it as the system's finest timer allows.
void precise_sleep_until(std::chrono::steady_clock::time_point time);

}  // namespace engine
