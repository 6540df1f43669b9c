// Declares what a wait for the host and its launcher agree on.
#pragma once

#include <cstdint>

namespace kernels::cuda {

/// The host's words, read by one load: each crosses the bus.
struct alignas(8) HostAnswer {
    int ready = 0;     // what is waited for is there
    int given_up = 0;  // it will not come
};

/// Words hold the number of the step for which something has happened.
struct HostWaitArguments {
    const int* step;
    const HostAnswer* answer;
    int* late;    // it was waited for too long
    int* passed;  // the wait is over
    std::uint64_t most_ns;
};

}  // namespace kernels::cuda
