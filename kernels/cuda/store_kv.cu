// Writes the keys and values of new tokens into their KV blocks: one warp takes a token's keys of one head, another its
// values. The bits are those that the CPU writes. Or first does all that becomes of heads between their products and
// attention.
#include "kernels/cuda/device.h"
#include "kernels/cuda/prepare_heads.h"
#include "kernels/cuda/reduce.cuh"

using namespace kernels::cuda;
using kernels::KvType;

namespace {

// A NaN keeps its sign and its first bits, as on the CPU.
__device__ std::uint16_t stored_half(float x)
{
    const std::uint32_t bits = __float_as_uint(x);
    return x == x ? kernels::cuda::float_to_half(x)
                  : std::uint16_t((bits >> 16 & 0x8000u) | 0x7e00u | (bits >> 13 & 0x3ffu));
}

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
                return std::uint32_t(stored_half(v[i])) | std::uint32_t(stored_half(v[i + 1])) << 16;
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

/// Says where a token's keys and values go: the block column, and which of its tokens it is.
struct Place {
    std::byte* column;  // null: it is not on the device
    int token;
};

__device__ inline Place place_of(const kernels::KvBlockLayout& layout, const std::uint64_t* blocks, int position)
{
    return {reinterpret_cast<std::byte*>(blocks[position / layout.tokens]), position % layout.tokens};
}

__device__ void store_key(const kernels::KvBlockLayout& layout, const Place& to, int head, const float* k)
{
    std::byte* block = to.column + std::size_t(head) * layout.bytes();
    store(layout.k_type, layout.k_dim, k, block, reinterpret_cast<float*>(block + layout.k_scales_offset()) + to.token,
          [&](int d) { return layout.k_index(to.token, d); });
}

__device__ void store_value(const kernels::KvBlockLayout& layout, const Place& to, int head, const float* v)
{
    if (layout.values_in_keys)
        return;
    std::byte* block = to.column + std::size_t(head) * layout.bytes();
    store(layout.v_type, layout.v_dim, v, block + layout.v_offset(),
          reinterpret_cast<float*>(block + layout.v_scales_offset()) + to.token,
          [&](int d) { return layout.v_index(to.token, d); });
}

}  // namespace

// k, v: (tokens, kv heads, k_dim or v_dim), token t at t * stride. blocks: (blocks,) where the block column of each run
// of layout.tokens tokens begins, or 0 where it is not on the device: then nothing is written. The tokens are *first,
// *first + 1, ... of the sequence.
extern "C" __global__ void store_kv(kernels::KvBlockLayout layout, const float* k, const float* v, int stride,
                                    const std::uint64_t* blocks, const int* first)
{
    const int head = int(blockIdx.x);
    const Place to = place_of(layout, blocks, *first + int(blockIdx.y));
    if (!to.column)
        return;
    const std::size_t row = std::size_t(blockIdx.y) * std::size_t(stride);
    if (warp() == 0)
        store_key(layout, to, head, k + row + std::size_t(head) * std::size_t(layout.k_dim));
    else
        store_value(layout, to, head, v + row + std::size_t(head) * std::size_t(layout.v_dim));
}
EMULATED(store_kv);

// A warp a head: its values go to shared memory, where they are normed and turned, and from there to where they belong.
// grid: (ceil((heads + 2 kv heads) / kPrepareWarps), rows); shared: (kPrepareWarps, longest head) floats
extern "C" __global__ void __launch_bounds__(kPrepareWarps* kWarp) prepare_heads(const PrepareArguments a)
{
    constexpr int kTurned = 2;  // pairs of a lane whose angles are there before the head is
    const kernels::KvBlockLayout& layout = a.layout;
    const int number = int(blockIdx.x) * kPrepareWarps + warp();
    let_next_begin();
    if (number >= a.heads + 2 * a.kv_heads) {
        wait_for_previous();
        return;  // the whole warp
    }
    const int row = int(blockIdx.y);
    const bool is_query = number < a.heads;
    const bool is_value = number >= a.heads + a.kv_heads;
    const int head = is_query ? number : is_value ? number - a.heads - a.kv_heads : number - a.heads;
    const int length = is_value ? layout.v_dim : layout.k_dim;
    float* from = (is_query   ? a.q
                   : is_value ? a.v
                              : a.k) +
                  std::size_t(row) * std::size_t(a.stride) + std::size_t(head) * std::size_t(length);
    const float* norm = is_query ? a.q_norm : is_value ? a.v_norm : a.k_norm;
    const int pairs = is_value ? 0 : a.pairs;
    float* values = reinterpret_cast<float*>(dynamic_shared()) + warp() * max(layout.k_dim, layout.v_dim);

    const float* cos = a.cos + std::size_t(row) * std::size_t(pairs);
    const float* sin = a.sin + std::size_t(row) * std::size_t(pairs);
    float c[kTurned];
    float s[kTurned];
#pragma unroll
    for (int i = 0; i < kTurned; ++i) {
        const int pair = lane() + i * kWarp;
        c[i] = pair < pairs ? cos[pair] : 0.0f;
        s[i] = pair < pairs ? sin[pair] : 0.0f;
    }
    const int position = is_query ? 0 : *a.first + row;
    const Place to = is_query ? Place{} : place_of(layout, a.blocks, position);
    wait_for_previous();
    float squares = 0.0f;
#pragma unroll 4
    for (int i = lane(); i < length; i += kWarp) {
        const float value = from[i];
        values[i] = value;
        squares += value * value;
    }
    if (norm) {
        const float scale = rsqrtf(warp_sum(squares) / float(length) + a.epsilon);
        for (int i = lane(); i < length; i += kWarp)
            values[i] = values[i] * scale * norm[i];
    }
    __syncwarp();
    const auto turn = [&](int pair, float cosine, float sine) {
        float& x = values[a.neox ? pair : 2 * pair];
        float& y = values[a.neox ? pair + pairs : 2 * pair + 1];
        const float turned = x * cosine - y * sine;
        y = x * sine + y * cosine;
        x = turned;
    };
#pragma unroll
    for (int i = 0; i < kTurned; ++i)
        if (lane() + i * kWarp < pairs)
            turn(lane() + i * kWarp, c[i], s[i]);
    for (int pair = lane() + kTurned * kWarp; pair < pairs; pair += kWarp)
        turn(pair, cos[pair], sin[pair]);
    __syncwarp();
    if (is_query) {
        for (int i = lane(); i < length; i += kWarp)
            from[i] = values[i];
    } else if (to.column) {
        if (is_value)
            store_value(layout, to, head, values);
        else
            store_key(layout, to, head, values);
    }
}
EMULATED(prepare_heads);
