// Computes sums and maxima over a warp or a block, in an order that depends on the number of threads only. Every thread
// gets the result. Blocks are of whole warps.
#pragma once

#include "kernels/cuda/device.h"

namespace kernels::cuda {

__device__ inline float warp_sum(float x)
{
    for (int flip = kWarp / 2; flip > 0; flip /= 2)
        x += __shfl_xor_sync(kWholeWarp, x, flip);
    return x;
}

__device__ inline float warp_max(float x)
{
    for (int flip = kWarp / 2; flip > 0; flip /= 2)
        x = fmaxf(x, __shfl_xor_sync(kWholeWarp, x, flip));
    return x;
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
