// Names the clock by which this room waits.
#pragma once

#include <chrono>

namespace server {

using Clock = std::chrono::steady_clock;

}  // namespace server
