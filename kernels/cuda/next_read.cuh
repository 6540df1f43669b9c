// Prefetches the memory that the next launch reads first.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/next_read.h"

namespace kernels::cuda {

/// Prefetches the share of one thread block. All its threads call this once they have read their own weights.
__device__ inline void ask_for_next(const NextRead& next, unsigned block)
{
    if (threadIdx.x > 0 || !next.at || block < next.first_block)
        return;
    const unsigned first = (block - next.first_block) * next.bytes_each;
    if (first < next.bytes)
        ask_for(next.at + first, min(next.bytes_each, next.bytes - first));
}

}  // namespace kernels::cuda
