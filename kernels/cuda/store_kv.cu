// Writes the keys and values of new tokens into their KV blocks: one warp takes a token's keys of one head, another its
// values. The bits are those that the CPU writes.
#include "kernels/cuda/device.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/kv_block.h"

using namespace kernels::cuda;
using kernels::KvType;

namespace {

// x: (dim,) of one token; value d goes to index place(d) of `values`, four at a time; dim is a multiple of 4.
template <class Place>
__device__ void store(KvType type, int dim, const float* x, std::byte* values, float* scale, const Place& place)
{
    float inverse = 0.0f;
    if (type == KvType::Q8_0) {
        float largest = 0.0f;
        for (int d = lane(); d < dim; d += kWarp)
            largest = fmaxf(largest, fabsf(x[d]));
        largest = warp_max(largest);
        const bool zero = !(largest > 1e-36f);  // 127 / largest must be finite
        inverse = zero ? 0.0f : __fdiv_rn(127.0f, largest);
        if (lane() == 0)
            *scale = zero ? 0.0f : __fdiv_rn(largest, 127.0f);
    }
    for (int d = 4 * lane(); d < dim; d += 4 * kWarp) {
        const float v[4] = {x[d], x[d + 1], x[d + 2], x[d + 3]};
        if (type == KvType::F32) {
            *reinterpret_cast<float4*>(reinterpret_cast<float*>(values) + place(d)) =
                make_float4(v[0], v[1], v[2], v[3]);
        } else if (type == KvType::F16) {
            const auto pair = [&](int i) {
                return std::uint32_t(kernels::cuda::float_to_half(v[i])) |
                       std::uint32_t(kernels::cuda::float_to_half(v[i + 1])) << 16;
            };
            *reinterpret_cast<uint2*>(reinterpret_cast<std::uint16_t*>(values) + place(d)) =
                make_uint2(pair(0), pair(2));
        } else {
            std::uint32_t packed = 0;
            for (int i = 0; i < 4; ++i)
                packed |= std::uint32_t(std::uint8_t(__float2int_rn(__fmul_rn(v[i], inverse)))) << (8 * i);
            *reinterpret_cast<std::uint32_t*>(values + place(d)) = packed;
        }
    }
}

}  // namespace

// k, v: (tokens, kv heads, k_dim or v_dim), token t at t * stride. blocks: (blocks,) where the block column of each run
// of layout.tokens tokens begins, or 0 where it is not on the device: then nothing is written. The tokens are *first,
// *first + 1, ... of the sequence.
extern "C" __global__ void store_kv(kernels::KvBlockLayout layout, const float* k, const float* v, int stride,
                                    const std::uint64_t* blocks, const int* first)
{
    const int head = int(blockIdx.x);
    const int position = *first + int(blockIdx.y);
    const std::uint64_t column = blocks[position / layout.tokens];
    if (column == 0)
        return;
    std::byte* block = reinterpret_cast<std::byte*>(column) + std::size_t(head) * layout.bytes();
    const int t = position % layout.tokens;
    const std::size_t row = std::size_t(blockIdx.y) * std::size_t(stride);
    if (warp() == 0)
        store(layout.k_type, layout.k_dim, k + row + std::size_t(head) * std::size_t(layout.k_dim), block,
              reinterpret_cast<float*>(block + layout.k_scales_offset()) + t,
              [&](int d) { return layout.k_index(t, d); });
    else
        store(layout.v_type, layout.v_dim, v + row + std::size_t(head) * std::size_t(layout.v_dim),
              block + layout.v_offset(), reinterpret_cast<float*>(block + layout.v_scales_offset()) + t,
              [&](int d) { return std::size_t(t) * std::size_t(layout.v_dim) + std::size_t(d); });
}
EMULATED(store_kv);
