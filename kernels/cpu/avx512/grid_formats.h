// Loads the types whose weights are points of a grid, IQ1, IQ2 and IQ3, as formats.h says.
#pragma once

#include "kernels/cpu/avx512/formats.h"
#include "kernels/cpu/grid_bytes.h"

namespace kernels::avx512 {

/// Returns the 64 magnitudes, negated where a bit of `signs` is set, plus the bias.
inline __m512i with_signs(__m512i magnitudes, std::uint64_t signs, int bias)
{
    const __m512i middle = _mm512_set1_epi8(char(bias));
    return _mm512_mask_sub_epi8(_mm512_add_epi8(middle, magnitudes), _cvtu64_mask64(signs), middle, magnitudes);
}

/// Returns the seven signs in each byte with an eighth, which makes the number of set ones even.
inline __m512i completed_signs(__m512i sevens)
{
    // What a shift brings in from a neighbouring byte stays above the bits that count.
    __m512i odd = _mm512_xor_si512(sevens, _mm512_srli_epi16(sevens, 4));
    odd = _mm512_xor_si512(odd, _mm512_srli_epi16(odd, 2));
    odd = _mm512_xor_si512(odd, _mm512_srli_epi16(odd, 1));
    const __m512i eighth = _mm512_slli_epi16(_mm512_and_si512(odd, _mm512_set1_epi8(1)), 7);
    return _mm512_or_si512(sevens, eighth);
}

/// Turns the four times seven signs at the bottom of each lane into a byte of eight signs each.
inline __m512i four_signs(__m512i words)
{
    const auto field = [&](unsigned i) {
        return _mm512_and_si512(_mm512_slli_epi32(words, i), _mm512_set1_epi32(0x7f << (8 * i)));
    };
    const __m512i first = _mm512_or_si512(field(0), field(1)), second = _mm512_or_si512(field(2), field(3));
    return completed_signs(_mm512_or_si512(first, second));
}

/// 256 bits of signs.
struct Signs256 {
    std::uint64_t of[4];
    explicit Signs256(__m256i bits) { _mm256_storeu_si256(reinterpret_cast<__m256i*>(of), bits); }
};

/// Makes the signs of eight groups from their words.
inline Signs256 signs_of_words(__m256i words)
{
    return Signs256(_mm512_castsi512_si256(four_signs(_mm512_castsi256_si512(words))));
}

/// Returns scale * (2 s + 1) for eight groups.
inline __m256 odd_scales(__m256i s, float scale)
{
    const __m256i odd = _mm256_add_epi32(_mm256_add_epi32(s, s), _mm256_set1_epi32(1));
    return _mm256_mul_ps(_mm256_cvtepi32_ps(odd), _mm256_set1_ps(scale));
}

/// Does the same for sixteen half groups: first halves in `low`.
inline __m512 odd_half_scales(__m256i low, __m256i high, float scale)
{
    const __m512i s = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
    const __m512i odd = _mm512_add_epi32(_mm512_add_epi32(s, s), _mm512_set1_epi32(1));
    return _mm512_mul_ps(_mm512_cvtepi32_ps(odd), _mm512_set1_ps(scale));
}

/// The same, where the numbers s are the nibbles of eight bytes.
inline __m512 odd_half_scales(const std::uint8_t* nibbles, float scale)
{
    const __m256i bytes = _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(nibbles)));
    return odd_half_scales(_mm256_and_si256(bytes, _mm256_set1_epi32(15)), _mm256_srli_epi32(bytes, 4), scale);
}

inline __m512i eight_wide(const std::uint8_t* bytes)
{
    return _mm512_cvtepu8_epi64(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(bytes)));
}

/// Fills the lower half with what `of_even` says, and the upper half with what `of_odd` says.
inline __m512i two_groups(std::uint32_t of_even, std::uint32_t of_odd)
{
    return _mm512_mask_set1_epi64(_mm512_set1_epi64(of_even), 0xf0, of_odd);
}

template <int Count>
inline __m512i eight_points(const PointBytes<std::uint64_t, Count>& grid, __m512i index)
{
    return _mm512_i64gather_epi64(index, grid.of, 8);
}

struct IQ2_XXS {
    static constexpr int kBias = 64, kGroups = 8, kBytes = sizeof(BlockIQ2_XXS);
    static constexpr bool kHalves = false, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockIQ2_XXS*>(at);
        const __m512i groups = _mm512_loadu_si512(b->groups);
        const __m256i words = _mm512_cvtepi64_epi32(_mm512_srli_epi64(groups, 32));
        const Signs256 signs = signs_of_words(words);
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            const __m128i index = _mm_unpacklo_epi32(_mm_cvtsi32_si128(word_at<int>(b->groups[2 * i].index)),
                                                     _mm_cvtsi32_si128(word_at<int>(b->groups[2 * i + 1].index)));
            w.q[i] = with_signs(eight_points(kIq2xxsBytes, _mm512_cvtepu8_epi64(index)), signs.of[i], kBias);
        }
        w.scale = odd_scales(_mm256_srli_epi32(words, 28), 0.125f * half_at(&b->scale));
        return w;
    }
};

struct IQ2_XS {
    static constexpr int kBias = 64, kGroups = 8, kBytes = sizeof(BlockIQ2_XS);
    static constexpr bool kHalves = true, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockIQ2_XS*>(at);
        const __m512i points = _mm512_loadu_si512(b->points);
        const __m256i sevens = _mm512_cvtepi16_epi8(_mm512_srli_epi16(points, 9));
        const Signs256 signs(_mm512_castsi512_si256(completed_signs(_mm512_castsi256_si512(sevens))));
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            const __m512i index = _mm512_and_si512(_mm512_cvtepu16_epi64(load128(b->points + 8 * i)),  //
                                                   _mm512_set1_epi64(511));
            w.q[i] = with_signs(eight_points(kIq2xsBytes, index), signs.of[i], kBias);
        }
        w.scale16 = odd_half_scales(b->scales, 0.125f * half_at(&b->scale));
        return w;
    }
};

struct IQ2_S {
    static constexpr int kBias = 64, kGroups = 8, kBytes = sizeof(BlockIQ2_S);
    static constexpr bool kHalves = true, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockIQ2_S*>(at);
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            const __m512i high = _mm512_sllv_epi64(two_groups(b->high[2 * i], b->high[2 * i + 1]),
                                                   _mm512_setr_epi64(8, 6, 4, 2, 8, 6, 4, 2));
            const __m512i index = _mm512_or_si512(eight_wide(b->index + 8 * i),  //
                                                  _mm512_and_si512(high, _mm512_set1_epi64(0x300)));
            w.q[i] = with_signs(eight_points(kIq2sBytes, index), word_at<std::uint64_t>(b->signs + 8 * i), kBias);
        }
        w.scale16 = odd_half_scales(b->scales, 0.125f * half_at(&b->scale));
        return w;
    }
};

struct IQ3_XXS {
    static constexpr int kBias = 64, kGroups = 8, kBytes = sizeof(BlockIQ3_XXS);
    static constexpr bool kHalves = false, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockIQ3_XXS*>(at);
        const __m256i words = load256(b->signs_and_scales);
        const Signs256 signs = signs_of_words(words);
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            const __m512i index = _mm512_cvtepu8_epi32(load128(b->index + 16 * i));
            w.q[i] = with_signs(_mm512_i32gather_epi32(index, kIq3xxsBytes.of, 4), signs.of[i], kBias);
        }
        w.scale = odd_scales(_mm256_srli_epi32(words, 28), 0.25f * half_at(&b->scale));
        return w;
    }
};

struct IQ3_S {
    static constexpr int kBias = 16, kGroups = 8, kBytes = sizeof(BlockIQ3_S);
    static constexpr bool kHalves = false, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockIQ3_S*>(at);
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            const __m512i low = _mm512_cvtepu8_epi32(load128(b->q + 16 * i));
            const __mmask16 ninth_bits = word_at<std::uint16_t>(b->high + 2 * i);
            const __m512i index = _mm512_mask_or_epi32(low, ninth_bits, low, _mm512_set1_epi32(256));
            const __m512i magnitude = _mm512_i32gather_epi32(index, kIq3sGrid, 4);
            w.q[i] = with_signs(magnitude, word_at<std::uint64_t>(b->signs + 8 * i), kBias);
        }
        const __m256i packed = _mm256_set1_epi32(word_at<int>(b->scales));
        const __m256i four_bits = _mm256_and_si256(
            _mm256_srlv_epi32(packed, _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28)), _mm256_set1_epi32(15));
        w.scale = odd_scales(four_bits, half_at(&b->scale));
        return w;
    }
};

struct IQ1_S {
    static constexpr int kBias = kIq1Bias, kGroups = 8, kBytes = sizeof(BlockIQ1_S);
    static constexpr bool kHalves = false, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockIQ1_S*>(at);
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            const __m512i high = two_groups(word_at<std::uint16_t>(b->high + 2 * i),  //
                                            word_at<std::uint16_t>(b->high + 2 * i + 1));
            const __m512i three = _mm512_sllv_epi64(high, _mm512_setr_epi64(8, 5, 2, 0, 8, 5, 2, 0));
            const __m512i top = _mm512_srlv_epi64(three, _mm512_setr_epi64(0, 0, 0, 1, 0, 0, 0, 1));
            const __m512i index =
                _mm512_or_si512(eight_wide(b->index + 8 * i), _mm512_and_si512(top, _mm512_set1_epi64(0x700)));
            const __mmask8 minus = _mm512_test_epi64_mask(high, _mm512_set1_epi64(0x8000));
            const __m512i plus = _mm512_maskz_set1_epi64(__mmask8(~minus), 0x0101010101010101 * kIq1Plus);
            w.q[i] = _mm512_add_epi8(eight_points(kIq1Bytes, index), plus);
        }
        const __m256i high = _mm256_cvtepu16_epi32(load128(b->high));
        w.scale = odd_scales(_mm256_and_si256(_mm256_srli_epi32(high, 12), _mm256_set1_epi32(7)),
                             0.125f * half_at(&b->scale));
        return w;
    }
};

struct IQ1_M {
    static constexpr int kBias = kIq1Bias, kGroups = 8, kBytes = sizeof(BlockIQ1_M);
    static constexpr bool kHalves = true, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockIQ1_M*>(at);
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            const __m512i high = _mm512_srlv_epi64(_mm512_set1_epi64(word_at<int>(b->high + 4 * i)),
                                                   _mm512_setr_epi64(0, 4, 8, 12, 16, 20, 24, 28));
            const __m512i top = _mm512_slli_epi64(_mm512_and_si512(high, _mm512_set1_epi64(7)), 8);
            const __mmask8 minus = _mm512_test_epi64_mask(high, _mm512_set1_epi64(8));
            const __m512i plus = _mm512_maskz_set1_epi64(__mmask8(~minus), 0x0101010101010101 * kIq1Plus);
            const __m512i index = _mm512_or_si512(eight_wide(b->index + 8 * i), top);
            w.q[i] = _mm512_add_epi8(eight_points(kIq1Bytes, index), plus);
        }
        w.scale16 = scales(word_at<std::uint64_t>(b->scales));
        return w;
    }

private:
    // words: four of 16 bits, each with four group scales of three bits and above them a nibble of the block's scale.
    static __m512 scales(std::uint64_t words)
    {
        const std::uint64_t top = words >> 12 & 0x000f000f000f000fu;
        const auto half = std::uint16_t(top | top >> 12 | top >> 24 | top >> 36);
        const __m256i each = _mm256_cvtepu16_epi32(_mm_set1_epi64x(static_cast<long long>(words)));
        const __m256i twice = _mm256_permutevar8x32_epi32(each, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
        const __m256i first = _mm256_srlv_epi32(twice, _mm256_setr_epi32(0, 6, 0, 6, 0, 6, 0, 6));
        const __m256i seven = _mm256_set1_epi32(7);
        return odd_half_scales(_mm256_and_si256(first, seven), _mm256_and_si256(_mm256_srli_epi32(first, 3), seven),
                               0.125f * half_at(&half));
    }
};

}  // namespace kernels::avx512
