// Finds out which thread block of a launch is the last to end, for work that needs the results of all: it takes no
// further launch, and the results are still in the cache.
#pragma once

#include "kernels/cuda/device.h"

namespace kernels::cuda {

/// Says to all threads of a thread block, all of which call it, whether the block is the last of `count` that do so
/// with the counter. Then it can read, by read_of_others(), what the others had written before. *counter is 0 before
/// the first and after the last.
__device__ inline bool is_last_block(unsigned* counter, unsigned count)
{
    __shared__ unsigned before;
    __syncthreads();  // all threads have written
    if (threadIdx.x == 0) {
        before = count_up(counter);
        if (before + 1 == count)
            *counter = 0;
    }
    __syncthreads();
    return before + 1 == count;
}

}  // namespace kernels::cuda
