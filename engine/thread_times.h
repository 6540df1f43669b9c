// Measures what a thread got of the cores.
#pragma once

#include <optional>

namespace engine {

struct ThreadTimes {
    double ran_s = 0;     // since it began
    double waited_s = 0;  // ready, and other threads had the cores
};

/// Returns the times of the calling thread. On Windows, which tells only how long it ran, the time it slept counts as
/// waiting. Empty: this system does not say.
std::optional<ThreadTimes> this_threads_times();

}  // namespace engine
