// Activations and packed weights as halves, which is what cuBLAS multiplies. Activations beyond the range of halves are
// brought into it by one power of two for all rows, so that the product can undo it by a factor.
#include "kernels/cuda/halves.h"
#include "kernels/cuda/pieces.cuh"
#include "kernels/cuda/power_of_two.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/packed_types.h"

using namespace kernels::cuda;

namespace {

constexpr float kLargestHalf = 65504.0f;

__device__ inline uint2 four_halves(float a, float b, float c, float d)
{
    return make_uint2(float_to_half(a) | std::uint32_t(float_to_half(b)) << 16,
                      float_to_half(c) | std::uint32_t(float_to_half(d)) << 16);
}

// weights: (rows, row_bytes) of n; out: (rows, n). grid: (rows, ceil(n / kWeightsOfThread / threads)). A thread takes
// half a group of 32, so that its scales are worked out once. The floats between are those that the CPU computes:
// products and sums are not fused.
template <class Block>
__device__ void weights_to_halves(const std::byte* weights, std::size_t row_bytes, int n, std::uint16_t* out)
{
    static_assert(kWeightsOfThread == 16);
    const unsigned part = blockIdx.y * blockDim.x + threadIdx.x;
    if (part >= unsigned(n) / kWeightsOfThread)
        return;
    constexpr unsigned in_block = kBlockGroups<Block>;
    const unsigned group = part / 2;
    const int sub = int(group % in_block);
    const int half = int(part % 2);
    const Block& block =
        reinterpret_cast<const Block*>(weights + std::size_t(blockIdx.x) * row_bytes)[group / in_block];
    const Piece w = Pieces<Block>::unpack(Pieces<Block>::read(block, sub, half), block, sub, half);
    const auto value = [&](float q) { return __fadd_rn(__fmul_rn(w.scale, q), w.offset); };
    uint2 halves[kWeightsOfThread / 4];
#pragma unroll
    for (int quad = 0; quad < kWeightsOfThread / 4; ++quad) {
        const float4 q = bytes_to_floats(w.q[quad]);
        halves[quad] = four_halves(value(q.x), value(q.y), value(q.z), value(q.w));
    }
    auto* to = reinterpret_cast<uint4*>(out + std::size_t(blockIdx.x) * std::size_t(n)) + 2 * part;
    to[0] = make_uint4(halves[0].x, halves[0].y, halves[1].x, halves[1].y);
    to[1] = make_uint4(halves[2].x, halves[2].y, halves[3].x, halves[3].y);
}

}  // namespace

// x: (rows, n) at x_stride, both multiples of four. Each block finds the largest magnitude of every gridDim.x-th row.
extern "C" __global__ void __launch_bounds__(kLargestThreads)
    halves_largest(const float* x, int x_stride, int rows, int n, HalfScalars* scalars)
{
    float largest = 0.0f;
    for (int r = int(blockIdx.x); r < rows; r += int(gridDim.x)) {
        const auto* quads = reinterpret_cast<const float4*>(x + std::size_t(r) * std::size_t(x_stride));
#pragma unroll 4
        for (int i = int(threadIdx.x); i < n / 4; i += kLargestThreads) {
            const float4 v = quads[i];
            largest = fmaxf(largest, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
        }
    }
    largest = block_max(largest);
    if (threadIdx.x == 0)
        scalars->largest[blockIdx.x] = largest;
}
EMULATED(halves_largest);

// x: (rows, n) at x_stride; out: (rows, n). grid: (rows, ceil(n / 4 / threads))
extern "C" __global__ void halves_of_rows(const float* x, int x_stride, int n, HalfScalars* scalars, std::uint16_t* out)
{
    static_assert(kLargestParts == kHalvesThreads);
    const float largest = block_max(scalars->largest[threadIdx.x]);
    const float scale = largest <= kLargestHalf ? 1.0f : scale_to_halves(largest);
    if (blockIdx.x == 0 && blockIdx.y == 0 && threadIdx.x == 0) {
        scalars->undo = inverse_of(scale);
        scalars->zero = 0.0f;
        scalars->one = 1.0f;
    }
    const int quad = int(blockIdx.y * blockDim.x + threadIdx.x);
    if (quad >= n / 4)
        return;
    const float* v = x + std::size_t(blockIdx.x) * std::size_t(x_stride) + std::size_t(4 * quad);
    reinterpret_cast<uint2*>(out + std::size_t(blockIdx.x) * std::size_t(n))[quad] =
        four_halves(v[0] * scale, v[1] * scale, v[2] * scale, v[3] * scale);
}
EMULATED(halves_of_rows);

#define HALVES(Name, suffix, ...)                                                                                      \
    extern "C" __global__ void halves_##suffix(const std::byte* weights, std::size_t row_bytes, int n,                 \
                                               std::uint16_t* out)                                                     \
    {                                                                                                                  \
        weights_to_halves<kernels::Block##Name>(weights, row_bytes, n, out);                                           \
    }                                                                                                                  \
    EMULATED(halves_##suffix);

SPILLWAY_EACH_PACKED_TYPE(HALVES)
