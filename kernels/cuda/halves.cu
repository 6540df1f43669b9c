// Activations and packed weights as halves, which is what cuBLAS multiplies. Activations beyond the range of halves are
// brought into it by one power of two for all rows, so that the product can undo it by a factor.
#include "kernels/cuda/halves.h"
#include "kernels/cuda/power_of_two.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/unpack.cuh"
#include "kernels/packed_types.h"

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

#define HALVES(Name, suffix, ...)                                                                                      \
    extern "C" __global__ void halves_##suffix(const std::byte* weights, std::size_t row_bytes, int n,                 \
                                               std::uint16_t* out)                                                     \
    {                                                                                                                  \
        weights_to_halves<kernels::Block##Name>(weights, row_bytes, n, out);                                           \
    }                                                                                                                  \
    EMULATED(halves_##suffix);

SPILLWAY_EACH_PACKED_TYPE(HALVES)
