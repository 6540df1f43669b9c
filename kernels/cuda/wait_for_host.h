// Declares what a wait for the host and its launcher agree on.
#pragma once

#include <cstdint>

namespace kernels::cuda {

/// Words hold the number of the step for which something has happened.
struct HostWaitArguments {
    const int* step;
    const int* ready;     // the host's: what is waited for is there
    const int* given_up;  // the host's: it will not come
    int* late;            // it was waited for too long
    int* passed;          // the wait is over
    std::uint64_t most_ns;
};

}  // namespace kernels::cuda
