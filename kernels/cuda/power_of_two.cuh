// Finds powers of two that bring numbers into the range of halves, and back.
#pragma once

#include "kernels/cuda/device.h"

namespace kernels::cuda {

/// Returns the power of two that brings `largest` to 2^14 or just above it.
__device__ inline float scale_to_halves(float largest)
{
    const unsigned exponent = max(__float_as_uint(largest) >> 23 & 255u, 15u);
    return __uint_as_float((268u - exponent) << 23);
}

__device__ inline float inverse_of(float power_of_two)
{
    return __uint_as_float((254u << 23) - __float_as_uint(power_of_two));
}

}  // namespace kernels::cuda
