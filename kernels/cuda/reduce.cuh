// Computes sums and maxima over a warp or a block, in an order that depends on the number of threads only. Every thread
// gets the result. Blocks are of whole warps.
#pragma once

#include "kernels/cuda/device.h"

namespace kernels::cuda {

/// Returns x of all lanes combined: each lane's with that of the lane 16 places away, then 8, 4, 2 and 1.
template <class Combine>
__device__ inline float butterfly(float x, Combine combine)
{
    for (int flip = kWarp / 2; flip > 0; flip /= 2)
        x = combine(x, __shfl_xor_sync(kWholeWarp, x, flip));
    return x;
}

/// Returns what butterfly() returns. The emulated GPU exchanges once in place of five times: there an exchange costs
/// more than all the rest.
template <class Combine>
__device__ inline float over_warp(float x, Combine combine)
{
#ifdef __CUDACC__
    return butterfly(x, combine);
#else
    const host::Exchange<float, 1> all({x});
    float combined[kWarp];
    for (int i = 0; i < kWarp; ++i)
        combined[i] = *all.of(i);
    for (int count = kWarp / 2; count > 0; count /= 2)
        for (int i = 0; i < count; ++i)
            combined[i] = combine(combined[i], combined[i + count]);
    return combined[0];
#endif
}

__device__ inline float warp_sum(float x)
{
    return over_warp(x, [](float a, float b) { return a + b; });
}

__device__ inline float warp_max(float x)
{
    return over_warp(x, [](float a, float b) { return fmaxf(a, b); });
}

__device__ inline float block_sum(float x)
{
    __shared__ float sums[kWarp];
    x = warp_sum(x);
    __syncthreads();  // the last call's sums have been read
    if (lane() == 0)
        sums[warp()] = x;
    __syncthreads();
    return warp_sum(lane() < int(blockDim.x) / kWarp ? sums[lane()] : 0.0f);
}

__device__ inline float block_max(float x)
{
    __shared__ float largest[kWarp];
    x = warp_max(x);
    __syncthreads();
    if (lane() == 0)
        largest[warp()] = x;
    __syncthreads();
    return warp_max(lane() < int(blockDim.x) / kWarp ? largest[lane()] : largest[0]);
}

}  // namespace kernels::cuda
