// Activations and packed weights as halves, which is what cuBLAS multiplies. Activations beyond the range of halves are
// brought into it by one power of two for all rows, so that the product can undo it by a factor.
#include "kernels/cuda/halves.h"
#include "kernels/cuda/power_of_two.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/unpack.cuh"

using namespace kernels::cuda;

namespace {

constexpr float kLargestHalf = 65504.0f;

__device__ inline uint2 four_halves(float a, float b, float c, float d)
{
    return make_uint2(float_to_half(a) | std::uint32_t(float_to_half(b)) << 16,
                      float_to_half(c) | std::uint32_t(float_to_half(d)) << 16);
}

// weights: (rows, row_bytes) of n; out: (rows, n). grid: (rows, ceil(n / 4 / threads)). The floats between are those
// that the CPU computes: products and sums are not fused.
template <class Block>
__device__ void weights_to_halves(const std::byte* weights, std::size_t row_bytes, int n, std::uint16_t* out)
{
    const int quad = int(blockIdx.y * blockDim.x + threadIdx.x);
    if (quad >= n / 4)
        return;
    const Four w = four_of_row<Block>(weights + std::size_t(blockIdx.x) * row_bytes, quad / 8, quad % 8);
    const auto value = [&](int i) {
        return __fadd_rn(__fmul_rn(w.scale, float(std::int8_t(w.q >> (8 * i)))), w.offset);
    };
    reinterpret_cast<uint2*>(out + std::size_t(blockIdx.x) * std::size_t(n))[quad] =
        four_halves(value(0), value(1), value(2), value(3));
}

}  // namespace

// x: (rows, n) at x_stride. Each block finds the largest magnitude of every gridDim.x-th row.
extern "C" __global__ void halves_largest(const float* x, int x_stride, int rows, int n, HalfScalars* scalars)
{
    float largest = 0.0f;
    for (int r = int(blockIdx.x); r < rows; r += int(gridDim.x))
        for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
            largest = fmaxf(largest, fabsf(x[std::size_t(r) * std::size_t(x_stride) + std::size_t(i)]));
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

#define HALVES(type, Block)                                                                                            \
    extern "C" __global__ void halves_##type(const std::byte* weights, std::size_t row_bytes, int n,                   \
                                             std::uint16_t* out)                                                       \
    {                                                                                                                  \
        weights_to_halves<kernels::Block>(weights, row_bytes, n, out);                                                 \
    }                                                                                                                  \
    EMULATED(halves_##type)

HALVES(q4_0, BlockQ4_0);
HALVES(q4_1, BlockQ4_1);
HALVES(q5_0, BlockQ5_0);
HALVES(q5_1, BlockQ5_1);
HALVES(q8_0, BlockQ8_0);
HALVES(q2_k, BlockQ2_K);
HALVES(q3_k, BlockQ3_K);
HALVES(q4_k, BlockQ4_K);
HALVES(q5_k, BlockQ5_K);
HALVES(q6_k, BlockQ6_K);
HALVES(iq4_nl, BlockIQ4_NL);
HALVES(iq3_s, BlockIQ3_S);
HALVES(iq4_xs, BlockIQ4_XS);
HALVES(mxfp4, BlockMXFP4);
HALVES(iq2_xxs, BlockIQ2_XXS);
HALVES(iq2_xs, BlockIQ2_XS);
HALVES(iq3_xxs, BlockIQ3_XXS);
HALVES(iq1_s, BlockIQ1_S);
HALVES(iq2_s, BlockIQ2_S);
HALVES(iq1_m, BlockIQ1_M);
HALVES(tq1_0, BlockTQ1_0);
HALVES(tq2_0, BlockTQ2_0);
HALVES(nvfp4, BlockNVFP4);
