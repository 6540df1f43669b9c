// Products of a matrix with few tokens' activations, where reading the weights is what takes the time: a warp takes a
// row, its lanes take slices of it in turn, and what is read serves all tokens. A token's sum is made in the same order
// however many there are. With experts each pair is a token by itself, and reads its own expert's row.
#pragma once

#include "kernels/cuda/matvec.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/slices.cuh"
#include "kernels/packed_types.h"

namespace kernels::cuda {

// ---- packed weights, 8-bit activations ----

template <class Block>
struct PackedWeights {
    using Taken = Slice<Slices<Block>::kQuads>;
    static constexpr int kQuads = Slices<Block>::kQuads;

    static __device__ int slices(int n) { return n / 32 * Slices<Block>::kPerGroup; }
    static __device__ Taken take(const std::byte* row, int slice) { return Slices<Block>::load(row, slice); }

    // x: a row of 8-bit activations, whose scales follow its n values
    static __device__ float dot(const Taken& w, const std::byte* x, int n)
    {
        const auto* scales = reinterpret_cast<const float*>(x + n);
        float sum = 0.0f;
        for (int r = 0; r < 2; ++r) {
            std::uint32_t q[kQuads];
            load(q, x + 4 * w.quad[r]);
            int products = 0;
            int values = 0;
            for (int i = 0; i < kQuads; ++i) {
                products = dot4(w.q[r][i], q[i], products);
                if (kHasOffset<Block>)
                    values = dot4(0x01010101u, q[i], values);
            }
            const float scale = scales[w.quad[r] / 8];
            sum += w.scale[r] * scale * float(products);
            if (kHasOffset<Block>)
                sum += w.offset[r] * scale * float(values);
        }
        return sum;
    }

private:
    static __device__ void load(std::uint32_t (&q)[2], const std::byte* from)
    {
        const uint2 words = *reinterpret_cast<const uint2*>(from);
        q[0] = words.x;
        q[1] = words.y;
    }
    static __device__ void load(std::uint32_t (&q)[4], const std::byte* from)
    {
        const uint4 words = *reinterpret_cast<const uint4*>(from);
        q[0] = words.x;
        q[1] = words.y;
        q[2] = words.z;
        q[3] = words.w;
    }
};

// ---- float weights and activations: eight a lane ----

struct Eight {
    float w[8];
    int first;
};

__device__ inline float dot_floats(const Eight& w, const std::byte* x)
{
    const auto* from = reinterpret_cast<const float4*>(reinterpret_cast<const float*>(x) + w.first);
    const float4 a = from[0];
    const float4 b = from[1];
    return (w.w[0] * a.x + w.w[1] * a.y + w.w[2] * a.z + w.w[3] * a.w) +
           (w.w[4] * b.x + w.w[5] * b.y + w.w[6] * b.z + w.w[7] * b.w);
}

template <float (*to_float)(std::uint16_t)>
struct HalfWeights {
    using Taken = Eight;
    static __device__ int slices(int n) { return n / 8; }
    static __device__ Taken take(const std::byte* row, int slice)
    {
        const uint4 bits = reinterpret_cast<const uint4*>(row)[slice];
        const std::uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
        Taken t;
        t.first = 8 * slice;
        for (int i = 0; i < 8; ++i)
            t.w[i] = to_float(std::uint16_t(words[i / 2] >> (16 * (i % 2))));
        return t;
    }
    static __device__ float dot(const Taken& w, const std::byte* x, int) { return dot_floats(w, x); }
};

struct FloatWeights {
    using Taken = Eight;
    static __device__ int slices(int n) { return n / 8; }
    static __device__ Taken take(const std::byte* row, int slice)
    {
        const auto* from = reinterpret_cast<const float4*>(row) + 2 * slice;
        const float4 a = from[0];
        const float4 b = from[1];
        return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}, 8 * slice};
    }
    static __device__ float dot(const Taken& w, const std::byte* x, int) { return dot_floats(w, x); }
};

// ---- kernel ----

struct Operands {
    std::size_t matrix;    // of the stack: the expert or the head
    std::size_t x_offset;  // bytes
};

/// What token `first` is multiplied with: where there are experts it is a pair, and alone.
__device__ inline Operands operands_of(const MatvecArguments& a, int first)
{
    const ExpertArguments& e = a.expert;
    const int x_row = e.chosen ? first / e.pairs_of_each_row : first;
    return {e.chosen ? std::size_t(e.chosen[first]) : std::size_t(blockIdx.z),
            std::size_t(x_row) * a.x_stride + std::size_t(blockIdx.z) * a.head.x};
}

// grid: (ceil(rows / kMatvecWarps), ceil(tokens / at_once), heads)
template <class Weights, int at_once>
__device__ void matvec(const MatvecArguments& a)
{
    const int row = int(blockIdx.x) * kMatvecWarps + warp();
    if (row >= a.rows)
        return;  // the whole warp
    const int first = int(blockIdx.y) * at_once;
    const int tokens = min(at_once, a.tokens - first);
    const Operands operands = operands_of(a, first);
    const std::byte* weights = a.weights + operands.matrix * a.expert.bytes + std::size_t(row) * a.row_bytes;
    const float scale = a.scale ? a.scale[operands.matrix] : 1.0f;
    const float* bias = a.bias ? a.bias + operands.matrix * std::size_t(a.rows) : nullptr;
    const std::byte* x = a.x + operands.x_offset;
    const std::byte* residual = a.residual ? a.residual + operands.x_offset : nullptr;

    float sums[at_once] = {};
    const int slices = Weights::slices(a.n);
#pragma unroll(at_once == 1 ? 4 : 2)
    for (int slice = lane(); slice < slices; slice += kWarp) {
        const typename Weights::Taken taken = Weights::take(weights, slice);
#pragma unroll
        for (int t = 0; t < at_once; ++t)
            if (t < tokens) {
                sums[t] += Weights::dot(taken, x + std::size_t(t) * a.x_stride, a.n);
                if (residual)
                    sums[t] += Weights::dot(taken, residual + std::size_t(t) * a.x_stride, a.n);
            }
    }
#pragma unroll
    for (int t = 0; t < at_once; ++t) {
        const float sum = warp_sum(sums[t]) * scale;
        if (lane() == 0 && t < tokens) {
            float& out = a.out[std::size_t(first + t) * std::size_t(a.out_stride) +
                               std::size_t(int(blockIdx.z) * a.head.out + row)];
            out = (a.accumulate ? out : 0.0f) + (bias ? sum + bias[row] : sum);
        }
    }
}

}  // namespace kernels::cuda

// KERNEL(name, Weights) for each weight type.
#define MATVEC_OF_PACKED_TYPE(Name, suffix, KERNEL, name) KERNEL(name##_##suffix, PackedWeights<kernels::Block##Name>);
#define MATVEC_OF_EACH_TYPE(KERNEL, name)                                                                              \
    KERNEL(name##_f32, FloatWeights);                                                                                  \
    KERNEL(name##_f16, HalfWeights<kernels::cuda::half_to_float>);                                                     \
    KERNEL(name##_bf16, HalfWeights<kernels::cuda::bf16_to_float>);                                                    \
    SPILLWAY_EACH_PACKED_TYPE(MATVEC_OF_PACKED_TYPE, KERNEL, name)

#define MATVEC_KERNEL(name, Weights, at_once)                                                                          \
    extern "C" __global__ void __launch_bounds__(kMatvecWarps* kWarp) name(const MatvecArguments a)                    \
    {                                                                                                                  \
        matvec<Weights, at_once>(a);                                                                                   \
    }                                                                                                                  \
    EMULATED(name)
