// Attends keys and values of 8 bits in integers. The query, and the weights of the values, are rounded to 16 bits, as
// two bytes each: that is 256 times finer than what they are multiplied with, and one instruction adds four products of
// bytes. Sums are exact, so that their order does not matter.
#pragma once

#include "kernels/cpu.h"
#include "kernels/cpu/avx512/formats.h"
#include "kernels/cpu/avx512/lanes.h"

#include <array>
#include <limits>

namespace kernels::avx512 {

// While keys are scored, the values of their block are prefetched, and while values are summed, the keys of the next
// block: memory is read while something else is multiplied. Prefetching goes as fast as what is multiplied; where keys
// and values differ in type, some bytes are prefetched twice or not at all. Where values are a part of their keys, the
// next block's keys are prefetched while keys are scored.

inline const std::byte* values_ahead(const AttendBlock& a, int t)
{
    if (a.layout.values_in_keys)
        return (a.next ? a.next : a.block) + a.layout.k_index(t, 0) * kv_value_bytes(a.layout.k_type);
    return a.block + a.layout.v_offset() +
           std::size_t(t) * std::size_t(a.layout.v_dim) * kv_value_bytes(a.layout.v_type);
}

/// Returns where the keys to prefetch begin: those of the next block after its first `tokens` times `values` numbers.
/// Without a next block they are this block's, which are in the cache already: prefetching them costs nothing.
inline const std::byte* keys_ahead(const AttendBlock& a, int values)
{
    const std::size_t begin = std::size_t(values) * std::size_t(a.layout.tokens) * kv_value_bytes(a.layout.k_type);
    return (a.next ? a.next : a.block) + begin;
}

/// Rounds to the nearest integer; NaN becomes 0, as where activations are rounded.
inline __m512i whole_numbers(__m512 x)
{
    return _mm512_maskz_cvtps_epi32(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x);
}

/// A head's query as scale * (256 * high + low).
struct SplitQuery {
    std::int8_t* high;
    std::int8_t* low;
    float scale = 0.0f;
    // Keys are multiplied as k + 128: added to the products with high and with low, these take off what is too much.
    int high_shift = 0, low_shift = 0;

    /// q: (n,); high, low: room for n each.
    SplitQuery(const float* q, int n, std::int8_t* high_bytes, std::int8_t* low_bytes)
        : high(high_bytes)
        , low(low_bytes)
    {
        constexpr float kMost = 127 * 256 + 127;
        __m512 largest = _mm512_setzero_ps();
        for_lanes(n, [&](int i, __mmask16 lanes) {
            largest = _mm512_max_ps(_mm512_abs_ps(_mm512_maskz_loadu_ps(lanes, q + i)), largest);  // passes NaN over
        });
        scale = _mm512_reduce_max_ps(largest) / kMost;
        const __m512 steps = _mm512_set1_ps(scale > std::numeric_limits<float>::min() ? 1.0f / scale : 0.0f);
        __m512i high_sums = _mm512_setzero_si512(), low_sums = high_sums;
        for_lanes(n, [&](int i, __mmask16 lanes) {
            const __m512i whole = whole_numbers(_mm512_mul_ps(_mm512_maskz_loadu_ps(lanes, q + i), steps));
            const __m512i low_byte = _mm512_srai_epi32(_mm512_slli_epi32(whole, 24), 24);
            const __m512i high_byte = _mm512_srai_epi32(_mm512_sub_epi32(whole, low_byte), 8);
            high_sums = _mm512_add_epi32(high_sums, high_byte);
            low_sums = _mm512_add_epi32(low_sums, low_byte);
            _mm512_mask_cvtepi32_storeu_epi8(high + i, lanes, high_byte);
            _mm512_mask_cvtepi32_storeu_epi8(low + i, lanes, low_byte);
        });
        high_shift = -128 * _mm512_reduce_add_epi32(high_sums);
        low_shift = -128 * _mm512_reduce_add_epi32(low_sums);
    }
};

inline __m512 joined(__m512i high, __m512i low, float scale)
{
    const __m512 whole = _mm512_fmadd_ps(_mm512_cvtepi32_ps(high), _mm512_set1_ps(256.0f), _mm512_cvtepi32_ps(low));
    return _mm512_mul_ps(whole, _mm512_set1_ps(scale));
}

/// Sets scores[h] to the scores of the 16 tokens from `t` on, without the keys' scales.
template <int Heads>
inline void score_sixteen_q8(const AttendBlock& a, const std::array<SplitQuery, std::size_t(Heads)>& q, int t,
                             __m512 (&scores)[Heads])
{
    const std::byte* k = a.block + a.layout.k_index(t, 0);
    const std::byte* ahead = values_ahead(a, t);
    __m512i high[Heads], low[Heads];
#pragma GCC unroll 4
    for (int h = 0; h < Heads; ++h) {
        high[h] = _mm512_set1_epi32(q[h].high_shift);
        low[h] = _mm512_set1_epi32(q[h].low_shift);
    }
    for (int d = 0; d < a.layout.k_dim; d += kKvGroupValues, k += 64, ahead += 64) {
        read_ahead(ahead, 64);
        const __m512i keys = _mm512_xor_si512(_mm512_loadu_si512(k), _mm512_set1_epi8(char(0x80)));
#pragma GCC unroll 4
        for (int h = 0; h < Heads; ++h) {
            high[h] = add_byte_products(high[h], keys, _mm512_set1_epi32(word_at<int>(q[h].high + d)));
            low[h] = add_byte_products(low[h], keys, _mm512_set1_epi32(word_at<int>(q[h].low + d)));
        }
    }
#pragma GCC unroll 4
    for (int h = 0; h < Heads; ++h)
        scores[h] = joined(high[h], low[h], q[h].scale);
}

/// The weights of a head's values as scale * (256 * high + low).
struct SplitWeights {
    std::uint8_t* high;
    std::uint8_t* low;
    float scale = 0.0f;

    /// weights: (tokens,), valid from `begin` to `end`, multiples of 16.
    SplitWeights(const float* weights, int begin, int end, std::uint8_t* high_bytes, std::uint8_t* low_bytes)
        : high(high_bytes)
        , low(low_bytes)
    {
        constexpr float kMost = 255 * 256 + 255;
        __m512 largest = _mm512_setzero_ps();
        for (int t = begin; t < end; t += kLanes)
            largest = _mm512_max_ps(_mm512_loadu_ps(weights + t), largest);
        scale = _mm512_reduce_max_ps(largest) / kMost;
        const __m512 steps = _mm512_set1_ps(scale > std::numeric_limits<float>::min() ? 1.0f / scale : 0.0f);
        for (int t = begin; t < end; t += kLanes) {
            const __m512i whole = _mm512_min_epi32(whole_numbers(_mm512_mul_ps(_mm512_loadu_ps(weights + t), steps)),
                                                   _mm512_set1_epi32(int(kMost)));
            _mm512_mask_cvtepi32_storeu_epi8(high + t, 0xffff, _mm512_srli_epi32(whole, 8));
            _mm512_mask_cvtepi32_storeu_epi8(low + t, 0xffff, whole);
        }
    }
};

// Loads four tokens' values of 64 dimensions: lane e of 128-bit block L of out[j] holds dimension 16 L + 4 j + e.
template <bool Whole>
inline void four_tokens(const std::byte* v, std::ptrdiff_t stride, __mmask64 kept, __m512i (&out)[4])
{
    __m512i r[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
        r[i] = Whole ? _mm512_loadu_si512(v + i * stride) : _mm512_maskz_loadu_epi8(kept, v + i * stride);
    const __m512i low01 = _mm512_unpacklo_epi8(r[0], r[1]), high01 = _mm512_unpackhi_epi8(r[0], r[1]);
    const __m512i low23 = _mm512_unpacklo_epi8(r[2], r[3]), high23 = _mm512_unpackhi_epi8(r[2], r[3]);
    out[0] = _mm512_unpacklo_epi16(low01, low23);
    out[1] = _mm512_unpackhi_epi16(low01, low23);
    out[2] = _mm512_unpacklo_epi16(high01, high23);
    out[3] = _mm512_unpackhi_epi16(high01, high23);
}

// 128-bit block L of x[j] becomes block j of x[L].
inline void transpose_blocks(__m512 (&x)[4])
{
    const __m512 a = _mm512_shuffle_f32x4(x[0], x[1], 0x44), b = _mm512_shuffle_f32x4(x[0], x[1], 0xee);
    const __m512 c = _mm512_shuffle_f32x4(x[2], x[3], 0x44), d = _mm512_shuffle_f32x4(x[2], x[3], 0xee);
    x[0] = _mm512_shuffle_f32x4(a, c, 0x88);
    x[1] = _mm512_shuffle_f32x4(a, c, 0xdd);
    x[2] = _mm512_shuffle_f32x4(b, d, 0x88);
    x[3] = _mm512_shuffle_f32x4(b, d, 0xdd);
}

/// Exact sums of a head's values of 64 dimensions, in the order of four_tokens().
struct ValueSums {
    __m512i high[4], low[4];
};

/// Adds the values of the tokens [begin, end), multiples of four; Whole: of 64 dimensions, else of those that are left.
/// weights, sums: (Heads,). For every four tokens it prefetches the next `Lines` cache lines from `ahead` on.
template <int Heads, bool Whole, int Lines>
inline void add_values_q8(const AttendBlock& a, const SplitWeights* weights, int d, int begin, int end,
                          const std::byte* ahead, ValueSums* sums)
{
    const KvBlockLayout& l = a.layout;
    const __mmask64 kept = Whole ? ~__mmask64(0) : (__mmask64(1) << (l.v_dim - d)) - 1;
    const std::byte* v = a.block + l.v_offset() + d;
    __m512i high[Heads][4], low[Heads][4];
#pragma GCC unroll 4
    for (int h = 0; h < Heads; ++h)
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
            high[h][j] = sums[h].high[j];
            low[h][j] = sums[h].low[j];
        }
    for (int t = begin; t < end; t += 4, ahead += 64 * Lines) {
        read_ahead(ahead, 64 * Lines);
        __m512i values[4];
        four_tokens<Whole>(v + std::ptrdiff_t(t) * l.v_dim, l.v_dim, kept, values);
#pragma GCC unroll 4
        for (int h = 0; h < Heads; ++h) {
            const __m512i high_weights = _mm512_set1_epi32(word_at<int>(weights[h].high + t));
            const __m512i low_weights = _mm512_set1_epi32(word_at<int>(weights[h].low + t));
#pragma GCC unroll 4
            for (int j = 0; j < 4; ++j) {
                high[h][j] = add_byte_products(high[h][j], high_weights, values[j]);
                low[h][j] = add_byte_products(low[h][j], low_weights, values[j]);
            }
        }
    }
#pragma GCC unroll 4
    for (int h = 0; h < Heads; ++h)
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
            sums[h].high[j] = high[h][j];
            sums[h].low[j] = low[h][j];
        }
}

/// Sets out[0 .. dims - 1]; dims is 64 at most.
inline void store_values(const ValueSums& sums, float scale, int dims, float* out)
{
    __m512 values[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
        values[j] = joined(sums.high[j], sums.low[j], scale);
    transpose_blocks(values);
#pragma GCC unroll 4
    for (int j = 0; j < 4; ++j)
        _mm512_mask_storeu_ps(out + kLanes * j, first_lanes(dims - kLanes * j), values[j]);
}

}  // namespace kernels::avx512
