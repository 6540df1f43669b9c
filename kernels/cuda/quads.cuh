// Adds up values, four at a time.
#pragma once

#include "kernels/cuda/device.h"

namespace kernels::cuda {

__device__ inline void add(float4& to, const float4& v)
{
    to.x += v.x;
    to.y += v.y;
    to.z += v.z;
    to.w += v.w;
}

__device__ inline float4 sum_of(float4 a, const float4& b)
{
    add(a, b);
    return a;
}

/// Adds the product, rounded once.
__device__ inline void add_product(float4& to, float factor, const float4& v)
{
    to.x = __fmaf_rn(factor, v.x, to.x);
    to.y = __fmaf_rn(factor, v.y, to.y);
    to.z = __fmaf_rn(factor, v.z, to.z);
    to.w = __fmaf_rn(factor, v.w, to.w);
}

}  // namespace kernels::cuda
