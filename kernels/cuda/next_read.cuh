// Asks for the memory that the next launch reads first.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/next_read.h"

namespace kernels::cuda {

/// Asks for the part of a thread block, whose threads all call this when they need no more memory themselves.
__device__ inline void ask_for_next(const NextRead& next, unsigned block)
{
    if (threadIdx.x > 0 || !next.at || block < next.first_block)
        return;
    const unsigned first = (block - next.first_block) * next.bytes_each;
    if (first < next.bytes)
        ask_for(next.at + first, min(next.bytes_each, next.bytes - first));
}

}  // namespace kernels::cuda
