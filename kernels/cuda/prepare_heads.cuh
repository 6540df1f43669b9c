// Prepares a head by one warp between its product and attention: it is normed and turned; a query stays in its place,
// keys and values go to their KV blocks, as the bits that the CPU writes.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/prepare_heads.h"
#include "kernels/cuda/reduce.cuh"

namespace kernels::cuda {

// Rounds to a half. A NaN keeps its sign and its first bits, as on the CPU.
__device__ inline std::uint16_t stored_half(float x)
{
    const std::uint32_t bits = __float_as_uint(x);
    return x == x ? kernels::cuda::float_to_half(x)
                  : std::uint16_t((bits >> 16 & 0x8000u) | 0x7e00u | (bits >> 13 & 0x3ffu));
}

// Stores one token's x, (dim,): value d goes to index place(d) of `values`, four at a time; dim is a multiple of 4.
template <class Place>
__device__ inline void store_values(kernels::KvType type, int dim, const float* x, std::byte* values, float* scale,
                                    const Place& place)
{
    float inverse = 0.0f;
    if (type == kernels::KvType::Q8_0) {
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
        if (type == kernels::KvType::F32) {
            *reinterpret_cast<float4*>(reinterpret_cast<float*>(values) + place(d)) =
                make_float4(v[0], v[1], v[2], v[3]);
        } else if (type == kernels::KvType::F16) {
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
struct PlaceInKv {
    std::byte* column;  // null: it is not on the device
    int token;
};

__device__ inline PlaceInKv place_of(const kernels::KvBlockLayout& layout, const std::uint64_t* blocks, int position)
{
    return {reinterpret_cast<std::byte*>(blocks[position / layout.tokens]), position % layout.tokens};
}

__device__ inline void store_key(const kernels::KvBlockLayout& layout, const PlaceInKv& to, int head, const float* k)
{
    std::byte* block = to.column + std::size_t(head) * layout.bytes();
    store_values(layout.k_type, layout.k_dim, k, block,
                 reinterpret_cast<float*>(block + layout.k_scales_offset()) + to.token,
                 [&](int d) { return layout.k_index(to.token, d); });
}

__device__ inline void store_value(const kernels::KvBlockLayout& layout, const PlaceInKv& to, int head, const float* v)
{
    if (layout.values_in_keys)
        return;
    std::byte* block = to.column + std::size_t(head) * layout.bytes();
    store_values(layout.v_type, layout.v_dim, v, block + layout.v_offset(),
                 reinterpret_cast<float*>(block + layout.v_scales_offset()) + to.token,
                 [&](int d) { return layout.v_index(to.token, d); });
}

/// Prepares head `number` of a row, where keys follow queries and values keys. values: room for a head in shared
/// memory. It calls wait() before it reads or writes the head.
template <class Wait>
__device__ inline void prepare_head(const PrepareArguments& a, int number, int row, float* values, const Wait& wait)
{
    constexpr int kTurned = 2;  // pairs of a lane whose angles are loaded before the head has been written
    const kernels::KvBlockLayout& layout = a.layout;
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
    const PlaceInKv to = is_query ? PlaceInKv{} : place_of(layout, a.blocks, position);
    wait();
    float squares = 0.0f;
#pragma unroll 4
    for (int i = lane(); i < length; i += kWarp) {
        const float value = read_of_others(from + i);
        values[i] = value;
        squares = __fadd_rn(squares, __fmul_rn(value, value));
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
        // Each rounding is written out, so that every kernel that does this has the same bits.
        const float turned = __fadd_rn(__fmul_rn(x, cosine), -__fmul_rn(y, sine));
        y = __fadd_rn(__fmul_rn(x, sine), __fmul_rn(y, cosine));
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

}  // namespace kernels::cuda
