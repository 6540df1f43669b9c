// Measures what a thread got of the cores: /proc/thread-self.
#include "engine/thread_times.h"

#include "engine/metrics/proc_text.h"

#include <fstream>
#include <iterator>
#include <string>

namespace engine {

std::optional<ThreadTimes> this_threads_times()
{
    std::ifstream file("/proc/thread-self/schedstat");
    return run_times(std::string{std::istreambuf_iterator<char>(file), {}});
}

}  // namespace engine
