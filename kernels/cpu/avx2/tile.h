// Multiplies a panel of 8 rows with a few tokens: the inner loop of prefill.
#pragma once

#include "kernels/cpu/avx2/byte_products.h"
#include "kernels/cpu/avx2/lanes.h"
#include "kernels/cpu/avx2/panel.h"
#include "kernels/cpu/token_rows.h"

namespace kernels::avx2 {

constexpr int shift_down(int bias)  // shifts are made for a bias of 128
{
    return bias == 64 ? 1 : bias == 32 ? 2 : bias == 16 ? 3 : bias == 8 ? 4 : bias == 4 ? 5 : 7;
}

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

/// Keeps GCC from adding up as a tree, for which all products have to wait in memory: there are no registers for them.
inline void one_after_another(__m256i& sum)
{
    __asm__("" : "+x"(sum));
}

/// The same value of a later token.
template <class Value>
inline const Value* of_token(const Value* first, std::ptrdiff_t stride, int token)
{
    return reinterpret_cast<const Value*>(reinterpret_cast<const std::byte*>(first) + token * stride);
}

// Exact products of one part of a group: 4 weights of every row in each of the steps. Tokens' rows are `stride` bytes
// apart, here and below.
template <class Format, class Products, int Steps, int Tokens>
inline void part_products(const std::byte* weights, const std::int8_t* q, std::ptrdiff_t stride,
                          __m256i (&exact)[Tokens])
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
                const __m256i four = four_activations<Format>(of_token(q, stride, t) + 4 * (k + j), w);
                if constexpr (!Products::kByPairs) {
                    exact[t] = Products::add(exact[t], magnitudes, four);
                } else {
                    const __m256i products = _mm256_maddubs_epi16(magnitudes, four);
                    pairs[t] = j == 0 ? products : _mm256_add_epi16(pairs[t], products);
                    one_after_another(pairs[t]);
                }
            }
        }
        if constexpr (Products::kByPairs)
#pragma GCC unroll 8
            for (int t = 0; t < Tokens; ++t)
                exact[t] = _mm256_add_epi32(exact[t], _mm256_madd_epi16(pairs[t], ones));
    }
}

/// The token's groups from `group` on; parts: sums and shifts a group.
inline TokenRow groups_from(const TokenRow& x, std::ptrdiff_t group, int parts)
{
    return {x.q + 32 * group, x.scale + group, x.sum + parts * group, x.shift + parts * group};
}

/// A group of 32 weights of the panel's rows.
struct PanelGroup {
    const std::byte* weights;
    const float *scales, *offsets;
};

/// Adds it to its running sum of every row and token, in the order of packed_product.h. `x`: the first token's group.
template <class Format, class Products, int Tokens>
inline void add_group(const PanelGroup& w, const TokenRow& x, std::ptrdiff_t stride, __m256 (&sums)[Tokens])
{
    constexpr int kParts = Format::kHalves ? 2 : 1, kSteps = 8 / kParts;
#pragma GCC unroll 2
    for (int part = 0; part < kParts; ++part) {
        __m256i exact[Tokens];
#pragma GCC unroll 8
        for (int t = 0; t < Tokens; ++t)
            if constexpr (Format::kBias == 0)
                exact[t] = _mm256_setzero_si256();
            else
                exact[t] =
                    _mm256_srai_epi32(_mm256_set1_epi32(of_token(x.shift, stride, t)[part]), shift_down(Format::kBias));
        part_products<Format, Products, kSteps>(w.weights + 32 * kSteps * part, x.q + 16 * part, stride, exact);
        const __m256 scale = _mm256_loadu_ps(w.scales + part * kPanelRows);
#pragma GCC unroll 8
        for (int t = 0; t < Tokens; ++t)
            sums[t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(exact[t]),
                                      _mm256_mul_ps(scale, _mm256_set1_ps(*of_token(x.scale, stride, t))), sums[t]);
    }
    if constexpr (Format::kOffset)
#pragma GCC unroll 2
        for (int part = 0; part < kParts; ++part) {
            const __m256 offset = _mm256_loadu_ps(w.offsets + part * kPanelRows);
#pragma GCC unroll 8
            for (int t = 0; t < Tokens; ++t)
                sums[t] = _mm256_fmadd_ps(offset, _mm256_set1_ps(of_token(x.sum, stride, t)[part]), sums[t]);
        }
}

/// As sum_of() joins eight.
inline __m256 joined(const __m256 (&sums)[kSums])
{
    const __m256 even = _mm256_add_ps(_mm256_add_ps(sums[0], sums[4]), _mm256_add_ps(sums[2], sums[6]));
    const __m256 odd = _mm256_add_ps(_mm256_add_ps(sums[1], sums[5]), _mm256_add_ps(sums[3], sums[7]));
    return _mm256_add_ps(even, odd);
}

/// out[t * out_stride + r] for the first `rows` rows of the panel; `x`: the first token.
template <class Format, class Products, int Tokens>
void tile(const Panel& panel, int rows, const TokenRow& x, std::ptrdiff_t stride, float* out, std::size_t out_stride)
{
    constexpr int kParts = Format::kHalves ? 2 : 1;
    __m256 sums[Tokens][kSums];
    for (int s = 0; s < kSums; ++s) {
        __m256 sum[Tokens];
#pragma GCC unroll 8
        for (int t = 0; t < Tokens; ++t)
            sum[t] = _mm256_setzero_ps();
        for (int group = s, slot = panel.slot(s); group < panel.groups; group += kSums, ++slot)
            add_group<Format, Products, Tokens>({panel.weights(slot), panel.scales(slot), panel.offsets(slot)},
                                                groups_from(x, group, kParts), stride, sum);
#pragma GCC unroll 8
        for (int t = 0; t < Tokens; ++t)
            sums[t][s] = sum[t];
    }
    for (int t = 0; t < Tokens; ++t)
        _mm256_maskstore_ps(out + std::size_t(t) * out_stride, first_lanes(rows), joined(sums[t]));
}

}  // namespace kernels::avx2
