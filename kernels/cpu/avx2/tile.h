// Multiplies a panel of 8 rows with a few tokens: the inner loop of prefill.
#pragma once

#include "kernels/cpu/avx2/byte_products.h"
#include "kernels/cpu/avx2/lanes.h"
#include "kernels/cpu/avx2/panel.h"
#include "kernels/cpu/token_rows.h"

namespace kernels::avx2 {

/// Products of pairs, so many that their sum fits 16 bits.
template <class Format>
constexpr int kPairsAtOnce = Format::kSigned       ? 1
                             : Format::kMost <= 15 ? 8
                             : Format::kMost <= 31 ? 4
                             : Format::kMost <= 63 ? 2
                                                   : 1;

// A token's four activations, for the weights of 8 rows; where these have signs, for their magnitudes.
template <class Format>
inline __m256i four_activations(const std::int8_t* q, __m256i weights)
{
    const __m256i four = _mm256_set1_epi32(word_at<int>(q));
    return Format::kSigned ? _mm256_sign_epi8(four, weights) : four;  // x is never -128, so it has an opposite
}

// Exact products of one part of a group: 4 weights of every row in each of the steps.
template <class Format, class Products, int Steps, int Tokens>
inline void part_products(const std::byte* weights, const std::int8_t* const (&q)[Tokens], __m256i (&exact)[Tokens])
{
    const __m256i ones = _mm256_set1_epi16(1);
    constexpr int kPairs = kPairsAtOnce<Format> < Steps ? kPairsAtOnce<Format> : Steps;
#pragma GCC unroll 8
    for (int k = 0; k < Steps; k += kPairs) {
        __m256i pairs[Tokens];
#pragma GCC unroll 8
        for (int j = 0; j < kPairs; ++j) {
            const __m256i w = load256(weights + 32 * (k + j));
            const __m256i magnitudes = Format::kSigned ? _mm256_abs_epi8(w) : w;
#pragma GCC unroll 8
            for (int t = 0; t < Tokens; ++t) {
                const __m256i four = four_activations<Format>(q[t] + 4 * (k + j), w);
                if constexpr (!Products::kByPairs) {
                    exact[t] = Products::add(exact[t], magnitudes, four);
                } else {
                    const __m256i products = _mm256_maddubs_epi16(magnitudes, four);
                    pairs[t] = j == 0 ? products : _mm256_add_epi16(pairs[t], products);
                }
            }
        }
        if constexpr (Products::kByPairs)
#pragma GCC unroll 8
            for (int t = 0; t < Tokens; ++t)
                exact[t] = _mm256_add_epi32(exact[t], _mm256_madd_epi16(pairs[t], ones));
    }
}

/// Running sum `sum` (groups sum, sum + 8, ...) of every row and token, in the order of packed_product.h.
template <class Format, class Products, int Tokens>
inline void running_sum(const Panel& panel, const TokenRow (&x)[Tokens], int sum, int shift_down, __m256 (&out)[Tokens])
{
    constexpr int kParts = Format::kHalves ? 2 : 1, kSteps = 8 / kParts;
#pragma GCC unroll 8
    for (int t = 0; t < Tokens; ++t)
        out[t] = _mm256_setzero_ps();
    for (int group = sum, slot = panel.slot(sum); group < panel.groups; group += kSums, ++slot) {
#pragma GCC unroll 2
        for (int part = 0; part < kParts; ++part) {
            const std::int8_t* q[Tokens];
            __m256i exact[Tokens];
#pragma GCC unroll 8
            for (int t = 0; t < Tokens; ++t) {
                q[t] = x[t].q + std::ptrdiff_t(group) * 32 + 16 * part;
                exact[t] = Format::kBias == 0 ? _mm256_setzero_si256()
                                              : _mm256_set1_epi32(x[t].shift[group * kParts + part] >> shift_down);
            }
            part_products<Format, Products, kSteps>(panel.weights(slot) + 32 * kSteps * part, q, exact);
            const __m256 scale = _mm256_loadu_ps(panel.scales(slot) + part * kPanelRows);
#pragma GCC unroll 8
            for (int t = 0; t < Tokens; ++t)
                out[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(exact[t]),
                                         _mm256_mul_ps(scale, _mm256_set1_ps(x[t].scale[group])), out[t]);
        }
        if constexpr (Format::kOffset)
#pragma GCC unroll 2
            for (int part = 0; part < kParts; ++part) {
                const __m256 offset = _mm256_loadu_ps(panel.offsets(slot) + part * kPanelRows);
#pragma GCC unroll 8
                for (int t = 0; t < Tokens; ++t)
                    out[t] = _mm256_fmadd_ps(offset, _mm256_set1_ps(x[t].sum[group * kParts + part]), out[t]);
            }
    }
}

/// out[t * out_stride + r] for the first `rows` rows of the panel.
template <class Format, class Products, int Tokens>
void tile(const Panel& panel, int rows, const TokenRow (&x)[Tokens], int shift_down, float* out, std::size_t out_stride)
{
    __m256 sums[kSums][Tokens];
    for (int s = 0; s < kSums; ++s)
        running_sum<Format, Products, Tokens>(panel, x, s, shift_down, sums[s]);
    for (int t = 0; t < Tokens; ++t) {  // as sum_of() joins eight
        const __m256 even = _mm256_add_ps(_mm256_add_ps(sums[0][t], sums[4][t]), _mm256_add_ps(sums[2][t], sums[6][t]));
        const __m256 odd = _mm256_add_ps(_mm256_add_ps(sums[1][t], sums[5][t]), _mm256_add_ps(sums[3][t], sums[7][t]));
        _mm256_maskstore_ps(out + std::size_t(t) * out_stride, first_lanes(rows), _mm256_add_ps(even, odd));
    }
}

}  // namespace kernels::avx2
