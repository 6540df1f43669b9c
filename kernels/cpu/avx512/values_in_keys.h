// Sums values that are the first part of their keys (latent attention), as these lie: a register holds four dimensions
// of four tokens, so that sums run across lanes once for all tokens. 16 dimensions at a time.
#pragma once

#include "kernels/cpu/avx512/attend_q8.h"

namespace kernels::avx512 {

/// Returns where four times four values of the block's first token begin, from dimension d on; where fewer are left,
/// the last four again.
inline std::array<const std::byte*, 4> fours_from(const AttendBlock& a, int d)
{
    std::array<const std::byte*, 4> fours;
    for (int i = 0; i < 4; ++i) {
        const int first = d + kKvGroupValues * i, last = a.layout.v_dim - kKvGroupValues;
        fours[std::size_t(i)] =
            a.block + a.layout.k_index(0, first < last ? first : last) * kv_value_bytes(a.layout.k_type);
    }
    return fours;
}

/// Returns the number of the lane's token among four: 128-bit block i belongs to token i.
inline __m512i token_of_lane()
{
    return _mm512_setr_epi32(0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3);
}

/// Returns a mask of the lanes whose tokens, four from `t` on, are attended.
inline __mmask16 attended_of_four(const AttendBlock& a, int t)
{
    const __m512i tokens = _mm512_add_epi32(_mm512_set1_epi32(t), token_of_lane());
    return __mmask16(_mm512_cmpge_epi32_mask(tokens, _mm512_set1_epi32(a.first)) &
                     _mm512_cmplt_epi32_mask(tokens, _mm512_set1_epi32(a.last)));
}

/// Sets out[d .. d + 15] of some heads to sums of values, weighted with a.scores. Scores of tokens that are not
/// attended may be anything.
template <class Values, int Heads>
inline void sum_values_in_keys(const AttendBlock& a, int head, int d)
{
    const KvBlockLayout& l = a.layout;
    const auto fours = fours_from(a, d);
    const float* weights = a.scores + std::ptrdiff_t(head) * l.tokens;
    __m512 sums[Heads][4];
#pragma GCC unroll 4
    for (int h = 0; h < Heads; ++h)
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i)
            sums[h][i] = _mm512_setzero_ps();
    for (int run = a.first / kKvGroupTokens * kKvGroupTokens; run < a.last; run += kKvGroupTokens) {
        const bool whole = a.first <= run && run + kKvGroupTokens <= a.last;
        const std::ptrdiff_t begin = std::ptrdiff_t(run) * l.k_dim * Values::kBytes;
#pragma GCC unroll 4
        for (int j = 0; j < 4; ++j) {
            const __mmask16 lanes = whole ? __mmask16(0xffff) : attended_of_four(a, run + 4 * j);
            const __m512i tokens = _mm512_add_epi32(token_of_lane(), _mm512_set1_epi32(4 * j));
            __m512 values[4];
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i)
                values[i] = Values::load(fours[std::size_t(i)] + begin + 16 * j * Values::kBytes, lanes);
#pragma GCC unroll 4
            for (int h = 0; h < Heads; ++h) {
                const __m512 weight =
                    _mm512_permutexvar_ps(tokens, _mm512_loadu_ps(weights + std::ptrdiff_t(h) * l.tokens + run));
#pragma GCC unroll 4
                for (int i = 0; i < 4; ++i)
                    sums[h][i] = _mm512_fmadd_ps(weight, values[i], sums[h][i]);
            }
        }
    }
#pragma GCC unroll 4
    for (int h = 0; h < Heads; ++h) {
        transpose_blocks(sums[h]);
        _mm512_mask_storeu_ps(
            a.out + std::ptrdiff_t(head + h) * l.v_dim + d, first_lanes(l.v_dim - d),
            _mm512_add_ps(_mm512_add_ps(sums[h][0], sums[h][1]), _mm512_add_ps(sums[h][2], sums[h][3])));
    }
}

/// Returns for each dimension the sum over the four tokens.
inline __m512i joined_tokens(const __m512i (&sums)[4])
{
    __m512 x[4];
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i)
        x[i] = _mm512_castsi512_ps(sums[i]);
    transpose_blocks(x);
    return _mm512_add_epi32(_mm512_add_epi32(_mm512_castps_si512(x[0]), _mm512_castps_si512(x[1])),
                            _mm512_add_epi32(_mm512_castps_si512(x[2]), _mm512_castps_si512(x[3])));
}

/// Does the same for values of 8 bits. weights: (Heads,), 0 for tokens that are not attended.
template <int Heads>
inline void sum_values_in_keys_q8(const AttendBlock& a, const SplitWeights* weights, int head, int d)
{
    const KvBlockLayout& l = a.layout;
    const auto fours = fours_from(a, d);
    // Four tokens' bytes of a dimension come together.
    const __m512i turned = _mm512_broadcast_i32x4(_mm_setr_epi32(0x0c080400, 0x0d090501, 0x0e0a0602, 0x0f0b0703));
    __m512i high[Heads][4], low[Heads][4];
#pragma GCC unroll 4
    for (int h = 0; h < Heads; ++h)
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i)
            high[h][i] = low[h][i] = _mm512_setzero_si512();
    for (int run = a.first / kKvGroupTokens * kKvGroupTokens; run < a.last; run += kKvGroupTokens) {
        const std::ptrdiff_t begin = std::ptrdiff_t(run) * l.k_dim;
        __m512i values[4];
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i)
            values[i] = _mm512_shuffle_epi8(_mm512_loadu_si512(fours[std::size_t(i)] + begin), turned);
#pragma GCC unroll 4
        for (int h = 0; h < Heads; ++h) {
            const auto of_tokens = [&](const std::uint8_t* bytes) {
                return _mm512_permutexvar_epi32(token_of_lane(), _mm512_castsi128_si512(_mm_loadu_si128(
                                                                     reinterpret_cast<const __m128i*>(bytes + run))));
            };
            const __m512i high_weights = of_tokens(weights[h].high), low_weights = of_tokens(weights[h].low);
#pragma GCC unroll 4
            for (int i = 0; i < 4; ++i) {
                high[h][i] = add_byte_products(high[h][i], high_weights, values[i]);
                low[h][i] = add_byte_products(low[h][i], low_weights, values[i]);
            }
        }
    }
#pragma GCC unroll 4
    for (int h = 0; h < Heads; ++h)
        _mm512_mask_storeu_ps(a.out + std::ptrdiff_t(head + h) * l.v_dim + d, first_lanes(l.v_dim - d),
                              joined(joined_tokens(high[h]), joined_tokens(low[h]), weights[h].scale));
}

}  // namespace kernels::avx512
