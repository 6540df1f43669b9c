// Rounds activations to 8 bits: a lane has four neighbouring values, and eight lanes a group of 32 that share a scale.
// The bytes are those that the CPU writes (kernels/cpu.h, Q8Row), so that products over them agree.
#pragma once

#include "kernels/cpu/q8_layout.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/rounded_rows.h"

namespace kernels::cuda {

/// Returns the sum over `lanes` neighbouring lanes, 2, 4 or 8 of them.
__device__ inline int sum_of_lanes(int x, int lanes)
{
    for (int flip = 1; flip < lanes; flip *= 2)
        x += __shfl_xor_sync(kWholeWarp, x, flip);
    return x;
}

/// Rounds the warp's values into `out`, a row of n. A lane has one quad, which is values 4 * quad and the next three;
/// its quad is one more than that of the lane before. Either all lanes of a group of 32 values are `live` or none is:
/// lanes that are not write nothing. Returns what rounding took from the lane's values.
__device__ inline float4 put_quad(const float4& v, int quad, bool live, int n, std::byte* out)
{
    constexpr float kSmallestScaled = 1e-36f;  // 127 / this is still finite; smaller values become zero
    float largest = fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w)));
    for (int flip = 1; flip < 8; flip *= 2)
        largest = fmaxf(largest, __shfl_xor_sync(kWholeWarp, largest, flip));
    const bool zero = !(largest > kSmallestScaled);
    const float scale = zero ? 0.0f : __fdiv_rn(largest, 127.0f);
    const float inverse = zero ? 0.0f : __fdiv_rn(127.0f, largest);
    const int q[4] = {__float2int_rn(__fmul_rn(v.x, inverse)), __float2int_rn(__fmul_rn(v.y, inverse)),
                      __float2int_rn(__fmul_rn(v.z, inverse)), __float2int_rn(__fmul_rn(v.w, inverse))};
    const int sum = sum_of_lanes(q[0] + q[1] + q[2] + q[3], 4);
    const int sum_of_all = sum + __shfl_xor_sync(kWholeWarp, sum, 4);

    if (live) {
        const kernels::Q8Layout at(n);
        const auto put = [&](std::size_t part, int index, auto value) {
            reinterpret_cast<decltype(value)*>(out + part)[index] = value;
        };
        std::uint32_t packed = 0;
        for (int i = 0; i < 4; ++i)
            packed |= std::uint32_t(std::uint8_t(q[i])) << (8 * i);
        put(0, quad, packed);
        if (quad % 4 == 0) {
            put(at.sum16, quad / 4, scale * float(sum));
            put(at.shift16, quad / 4, -128 * sum);
        }
        if (quad % 8 == 0) {
            put(at.scale, quad / 8, scale);
            put(at.sum32, quad / 8, scale * float(sum_of_all));
            put(at.shift32, quad / 8, -128 * sum_of_all);
        }
    }
    return make_float4(__fmaf_rn(-float(q[0]), scale, v.x), __fmaf_rn(-float(q[1]), scale, v.y),
                       __fmaf_rn(-float(q[2]), scale, v.z), __fmaf_rn(-float(q[3]), scale, v.w));
}

/// Does the same into row `row` of `to`, and writes what rounding lost, too; nothing where `to` is null.
__device__ inline void put_rounded(const float4& v, int quad, bool live, int n, const RoundedRows& to, int row)
{
    if (!to.at)
        return;
    float4 rest = v;
#pragma unroll 1
    for (int i = 0; i < (to.residual ? 2 : 1); ++i)
        rest = put_quad(rest, quad, live, n, (i == 0 ? to.at : to.residual) + std::size_t(row) * to.stride);
}

}  // namespace kernels::cuda
