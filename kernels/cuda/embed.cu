// Rows of a table of embeddings, of any type, to floats: a thread unpacks four weights. The bits are those that the CPU
// computes, so products and sums are not fused.
#include "kernels/cuda/device.h"
#include "kernels/cuda/unpack.cuh"
#include "kernels/packed_types.h"

using namespace kernels::cuda;

namespace {

struct F32 {
    static __device__ float4 values(const std::byte* row, int quad)
    {
        return reinterpret_cast<const float4*>(row)[quad];
    }
};

template <float (*to_float)(std::uint16_t)>
struct Halves {
    static __device__ float4 values(const std::byte* row, int quad)
    {
        const uint2 bits = reinterpret_cast<const uint2*>(row)[quad];
        return make_float4(to_float(std::uint16_t(bits.x)), to_float(std::uint16_t(bits.x >> 16)),
                           to_float(std::uint16_t(bits.y)), to_float(std::uint16_t(bits.y >> 16)));
    }
};

template <class Block>
struct Packed {
    static __device__ float4 values(const std::byte* row, int quad)
    {
        const Four w = four_of_row<Block>(row, quad / 8, quad % 8);
        const auto value = [&](int i) {
            return __fadd_rn(__fmul_rn(w.scale, float(std::int8_t(w.q >> (8 * i)))), w.offset);
        };
        return make_float4(value(0), value(1), value(2), value(3));
    }
};

// ids: (rows,)   table: (entries, row_bytes)   out: (rows, n) at out_stride
template <class Format>
__device__ void embed(const int* ids, const std::byte* table, std::size_t row_bytes, float scale, int n, float* out,
                      int out_stride)
{
    const int quad = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (quad >= n / 4)
        return;
    const std::byte* row = table + std::size_t(ids[blockIdx.y]) * row_bytes;
    float4 v = Format::values(row, quad);
    v.x *= scale;
    v.y *= scale;
    v.z *= scale;
    v.w *= scale;
    reinterpret_cast<float4*>(out + std::size_t(blockIdx.y) * std::size_t(out_stride))[quad] = v;
}

}  // namespace

#define EMBED(type, Format)                                                                                            \
    extern "C" __global__ void embed_##type(const int* ids, const std::byte* table, std::size_t row_bytes,             \
                                            float scale, int n, float* out, int out_stride)                            \
    {                                                                                                                  \
        embed<Format>(ids, table, row_bytes, scale, n, out, out_stride);                                               \
    }                                                                                                                  \
    EMULATED(embed_##type)

EMBED(f32, F32);
EMBED(f16, Halves<kernels::cuda::half_to_float>);
EMBED(bf16, Halves<kernels::cuda::bf16_to_float>);
#define EMBED_PACKED(Name, suffix, ...) EMBED(suffix, Packed<kernels::Block##Name>);
SPILLWAY_EACH_PACKED_TYPE(EMBED_PACKED)
