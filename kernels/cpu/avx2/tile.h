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

/// Holds what a tile needs to know of a format. Few formats differ in it, so that most share their tiles.
template <bool Signed, bool Halves, bool Offset, int Bias, int PairsAtOnce>
struct Kind {
    static constexpr bool kSigned = Signed, kHalves = Halves, kOffset = Offset;
    static constexpr int kBias = Bias, kParts = Halves ? 2 : 1;
    static constexpr int kPairsAtOnce = PairsAtOnce;  // so many sums of pairs of products may be added up in 16 bits
};

/// Returns Kind::kPairsAtOnce for weights that are at most `most`.
constexpr int pairs_at_once(int most)
{
    return most <= 15 ? 8 : most <= 31 ? 4 : most <= 63 ? 2 : 1;
}

template <class Format, class Products>
using TileKind = Kind<Format::kSigned, Format::kHalves, Format::kOffset, Format::kBias,
                      Products::kByPairs && !Format::kSigned ? pairs_at_once(Format::kMost) : 1>;

// Returns a token's four activations as factors for the weights of 8 rows; where weights are signed, as factors for
// their magnitudes.
template <class Kind>
inline __m256i four_activations(const std::int8_t* q, __m256i weights)
{
    const __m256i four = _mm256_set1_epi32(word_at<int>(q));
    return Kind::kSigned ? _mm256_sign_epi8(four, weights) : four;  // x is never -128, so it has an opposite
}

/// Keeps GCC from adding products up as a tree, for which all of them have to wait, in memory for lack of registers.
inline void one_after_another(__m256i& sum)
{
    __asm__("" : "+x"(sum));
}

/// Returns where the value that the first token has at `first` is for another token. stride: bytes between tokens.
template <class Value>
inline const Value* of_token(const Value* first, std::ptrdiff_t stride, int token)
{
    return reinterpret_cast<const Value*>(reinterpret_cast<const std::byte*>(first) + token * stride);
}

/// Adds the sums of pairs to the exact sums, or with `first` sets these.
[[gnu::always_inline]] inline void add_pairs(__m256i& exact, __m256i pairs, bool first)
{
    const __m256i sum = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
    exact = first ? sum : _mm256_add_epi32(exact, sum);
    one_after_another(exact);
}

// Computes the exact sums of the products of steps [first, first + Steps) of some groups. In a step Source gives four
// weights of every row for each of kTogether groups. Tokens' rows are `stride` bytes apart, here and below.
template <class Kind, class Products, class Source, int Tokens, int Steps>
[[gnu::always_inline]] inline void part_products(const std::byte* weights, int first, const std::int8_t* q,
                                                 std::ptrdiff_t stride, __m256i (&exact)[Source::kTogether][Tokens])
{
    constexpr int kTogether = Source::kTogether;
    constexpr int kPairs = Kind::kPairsAtOnce < Steps ? Kind::kPairsAtOnce : Steps;
#pragma GCC unroll 8
    for (int k = first; k < first + Steps; k += kPairs) {
        if constexpr (kPairs > 4) {  // registers hold the sums of pairs, and the weights of one step
            __m256i pairs[kTogether][Tokens];
#pragma GCC unroll 8
            for (int j = 0; j < kPairs; ++j) {
                __m256i w[kTogether];
                Source::weights(weights, k + j, w);
#pragma GCC unroll 2
                for (int i = 0; i < kTogether; ++i)
#pragma GCC unroll 8
                    for (int t = 0; t < Tokens; ++t) {
                        const __m256i products = _mm256_maddubs_epi16(
                            w[i], four_activations<Kind>(of_token(q, stride, t) + 32 * i + 4 * (k + j), w[i]));
                        pairs[i][t] = j == 0 ? products : _mm256_add_epi16(pairs[i][t], products);
                        one_after_another(pairs[i][t]);
                    }
            }
#pragma GCC unroll 2
            for (int i = 0; i < kTogether; ++i)
#pragma GCC unroll 8
                for (int t = 0; t < Tokens; ++t)
                    add_pairs(exact[i][t], pairs[i][t], k == first);
        } else {  // registers hold the exact sums, and the weights of kPairs steps
            __m256i w[kPairs][kTogether], magnitudes[kPairs][kTogether];
#pragma GCC unroll 4
            for (int j = 0; j < kPairs; ++j) {
                Source::weights(weights, k + j, w[j]);
#pragma GCC unroll 2
                for (int i = 0; i < kTogether; ++i)
                    magnitudes[j][i] = Kind::kSigned ? _mm256_abs_epi8(w[j][i]) : w[j][i];
            }
#pragma GCC unroll 2
            for (int i = 0; i < kTogether; ++i)
#pragma GCC unroll 8
                for (int t = 0; t < Tokens; ++t) {
                    __m256i pairs = _mm256_setzero_si256();
#pragma GCC unroll 4
                    for (int j = 0; j < kPairs; ++j) {
                        const __m256i four =
                            four_activations<Kind>(of_token(q, stride, t) + 32 * i + 4 * (k + j), w[j][i]);
                        if constexpr (!Products::kByPairs) {
                            exact[i][t] = Products::add(k == first ? _mm256_setzero_si256() : exact[i][t],
                                                        magnitudes[j][i], four);
                        } else {
                            const __m256i products = _mm256_maddubs_epi16(magnitudes[j][i], four);
                            pairs = j == 0 ? products : _mm256_add_epi16(pairs, products);
                        }
                    }
                    if constexpr (Products::kByPairs)
                        add_pairs(exact[i][t], pairs, k == first);
                }
        }
    }
}

/// Returns the token's row from `group` on. parts: how many sums and shifts a group has.
inline TokenRow groups_from(const TokenRow& x, std::ptrdiff_t group, int parts)
{
    return {x.q + 32 * group, x.scale + group, x.sum + parts * group, x.shift + parts * group};
}

/// Groups of eight rows. Only their Source knows how the weights lie.
struct RowGroups {
    const std::byte* weights;
    const float *scales, *offsets;  // (groups, parts, 8)
};

/// Adds Source::kTogether groups to the running sums of some tokens, in the order of packed_product.h: sums[t * kSums]
/// is the first group's. `x`: the first token's first group.
template <class Kind, class Products, class Source, int Tokens>
[[gnu::always_inline]] inline void add_groups(const RowGroups& w, const TokenRow& x, std::ptrdiff_t stride,
                                              __m256* sums)
{
    constexpr int kParts = Kind::kParts, kSteps = 8 / kParts, kTogether = Source::kTogether;
    const auto lanes = [](const float* of, int group, int part) {
        return _mm256_loadu_ps(of + (kParts * group + part) * kPanelRows);
    };
    __m256 sum[kTogether][Tokens];
#pragma GCC unroll 2
    for (int part = 0; part < kParts; ++part) {
        __m256i exact[kTogether][Tokens];
        part_products<Kind, Products, Source, Tokens, kSteps>(w.weights, kSteps * part, x.q, stride, exact);
#pragma GCC unroll 2
        for (int i = 0; i < kTogether; ++i)
#pragma GCC unroll 8
            for (int t = 0; t < Tokens; ++t) {
                if constexpr (Kind::kBias != 0)
                    exact[i][t] = _mm256_add_epi32(
                        exact[i][t],
                        _mm256_srai_epi32(_mm256_set1_epi32(of_token(x.shift, stride, t)[kParts * i + part]),
                                          shift_down(Kind::kBias)));
                const __m256 scale =
                    _mm256_mul_ps(lanes(w.scales, i, part), _mm256_set1_ps(of_token(x.scale, stride, t)[i]));
                const __m256 before = part == 0 ? sums[t * kSums + i] : sum[i][t];
                sum[i][t] = _mm256_fmadd_ps(_mm256_cvtepi32_ps(exact[i][t]), scale, before);
            }
    }
#pragma GCC unroll 2
    for (int i = 0; i < kTogether; ++i)
#pragma GCC unroll 8
        for (int t = 0; t < Tokens; ++t) {
            if constexpr (Kind::kOffset)
#pragma GCC unroll 2
                for (int part = 0; part < kParts; ++part)
                    sum[i][t] =
                        _mm256_fmadd_ps(lanes(w.offsets, i, part),
                                        _mm256_set1_ps(of_token(x.sum, stride, t)[kParts * i + part]), sum[i][t]);
            sums[t * kSums + i] = sum[i][t];
        }
}

/// Adds up eight sums in the order in which sum_of() adds up eight lanes.
inline __m256 joined(const __m256 (&sums)[kSums])
{
    const __m256 even = _mm256_add_ps(_mm256_add_ps(sums[0], sums[4]), _mm256_add_ps(sums[2], sums[6]));
    const __m256 odd = _mm256_add_ps(_mm256_add_ps(sums[1], sums[5]), _mm256_add_ps(sums[3], sums[7]));
    return _mm256_add_ps(even, odd);
}

/// The Source for a panel, whose groups lie one after another.
template <int Together>
struct PanelGroups {
    static constexpr int kTogether = Together;
    static void weights(const std::byte* at, int step, __m256i (&w)[Together])
    {
        for (int i = 0; i < Together; ++i)
            w[i] = load256(at + 32 * (kPanelRows * i + step));
    }
};

/// Sets out[t * out_stride + r] for the first `rows` rows of the panel. `x`: the first token.
template <class Kind, class Products, int Tokens>
void tile(const Panel& panel, int rows, const TokenRow& x, std::ptrdiff_t stride, float* out, std::size_t out_stride)
{
    constexpr int kParts = Kind::kParts, kScales = kParts * kPanelRows;
    constexpr int kTogether = !Kind::kHalves && Kind::kPairsAtOnce > 4 ? 2 : 1;
    __m256 sums[Tokens][kSums];
    for (__m256(&of_token)[kSums] : sums)
        for (__m256& sum : of_token)
            sum = _mm256_setzero_ps();
    RowGroups w{panel.weights(0), panel.scales(0), panel.offsets(0)};
    TokenRow from = x;
    int group = 0;
    for (; group + kTogether <= panel.groups; group += kTogether) {
        add_groups<Kind, Products, PanelGroups<kTogether>, Tokens>(w, from, stride, &sums[0][group % kSums]);
        w = {w.weights + kTogether * 32 * kPanelRows, w.scales + kTogether * kScales, w.offsets + kTogether * kScales};
        from = groups_from(from, kTogether, kParts);
    }
    if (group < panel.groups)
        add_groups<Kind, Products, PanelGroups<1>, Tokens>(w, from, stride, &sums[0][group % kSums]);
    for (int t = 0; t < Tokens; ++t)
        _mm256_maskstore_ps(out + std::size_t(t) * out_stride, first_lanes(rows), joined(sums[t]));
}

}  // namespace kernels::avx2
