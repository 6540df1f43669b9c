// Norms a row that other thread blocks of the launch have written, with the same bits as the kernel rms_norm.
#pragma once

#include "kernels/cuda/norms.h"
#include "kernels/cuda/q8_rows.cuh"
#include "kernels/cuda/reduce.cuh"

namespace kernels::cuda {

// Each rounding is written out, so that the compiler does not fuse operations in one kernel and not in another.
__device__ inline float squares_of(const float4& v)
{
    return __fadd_rn(__fadd_rn(__fmul_rn(v.x, v.x), __fmul_rn(v.y, v.y)),
                     __fadd_rn(__fmul_rn(v.z, v.z), __fmul_rn(v.w, v.w)));
}

__device__ inline float4 weighed(const float4& v, float scale, const float4& weight)
{
    return make_float4(v.x * scale * weight.x, v.y * scale * weight.y, v.z * scale * weight.z, v.w * scale * weight.w);
}

/// Norms a row of n values, a multiple of 32, by a thread block of `threads`. Squares are added up as rms_norm does it:
/// a thread stands for several of that kernel's, `threads` apart.
template <int threads>
__device__ inline void norm_row(const float* x, int n, const NormOfRow& norm)
{
    constexpr int kStandsFor = kNormThreads / threads;
    constexpr int kKept = kStandsFor;  // quads that stay in registers: more would not find room
    static_assert(threads % kWarp == 0 && kNormThreads % threads == 0);
    __shared__ float sums[kNormThreads / kWarp];
    const auto* quads = reinterpret_cast<const float4*>(x);
    const auto* weights = reinterpret_cast<const float4*>(norm.weight);
    const int count = n / 4;
    const auto quad_at = [&](int quad) {
        return quad < count ? read_of_others(quads + quad) : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    };

    constexpr int kLine = 128 / sizeof(float4);  // quads
    for (int quad = kLine * int(threadIdx.x); quad < count; quad += kLine * threads)
        ask_for(weights + quad);
    float4 kept[kKept];
#pragma unroll
    for (int i = 0; i < kKept; ++i)
        kept[i] = quad_at(int(threadIdx.x) + i * threads);
#pragma unroll
    for (int other = 0; other < kStandsFor; ++other) {
        float squares = 0.0f;
#pragma unroll
        for (int i = other; i < kKept; i += kStandsFor)
            squares = __fadd_rn(squares, squares_of(kept[i]));
        for (int quad = int(threadIdx.x) + (other + kKept) * threads; quad < count; quad += kNormThreads)
            squares = __fadd_rn(squares, squares_of(read_of_others(quads + quad)));
        squares = warp_sum(squares);
        if (lane() == 0)
            sums[warp() + other * threads / kWarp] = squares;
    }
    __syncthreads();
    // As many sums as rms_norm has warps for such a row; the others are of nothing.
    const float sum = warp_sum(lane() < norm_threads(n) / kWarp ? sums[lane()] : 0.0f);
    const float scale = rsqrtf(sum / float(n) + norm.epsilon);

    const auto put = [&](int quad, const float4& v) {
        const bool live = quad < count;
        const float4 result = live ? weighed(v, scale, weights[quad]) : v;
        if (live)
            reinterpret_cast<float4*>(norm.out)[quad] = result;
        put_rounded(result, quad, live, n, norm.rounded, 0);
    };
#pragma unroll
    for (int i = 0; i < kKept; ++i)
        if (i * threads < count)  // the same for all threads
            put(int(threadIdx.x) + i * threads, kept[i]);
    for (int first = kKept * threads; first < count; first += threads)
        put(first + int(threadIdx.x), quad_at(first + int(threadIdx.x)));
}

}  // namespace kernels::cuda
