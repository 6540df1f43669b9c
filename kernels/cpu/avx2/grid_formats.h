// Unpacks the types whose weights are points of a grid, IQ1, IQ2 and IQ3, as formats.h says.
#pragma once

#include "kernels/cpu/avx2/formats.h"
#include "kernels/cpu/grid_bytes.h"

namespace kernels::avx2 {

/// Scales 2 s + 1 of eight groups.
inline void put_odd_scales(__m256i s, float scale, float* to)
{
    put_scaled(_mm256_add_epi32(_mm256_add_epi32(s, s), _mm256_set1_epi32(1)), scale, to);
}

/// Scales 2 s + 1 of sixteen half groups, the nibbles of eight bytes.
inline void put_odd_half_scales(const std::uint8_t* nibbles, float scale, float* to)
{
    const __m256i bytes = eight_bytes(word_at<std::uint64_t>(nibbles));
    put_odd_scales(_mm256_and_si256(bytes, _mm256_set1_epi32(15)), scale, to);
    put_odd_scales(_mm256_srli_epi32(bytes, 4), scale, to + 8);
}

/// 32 magnitudes, negated where a bit of `signs` is set, plus the bias.
inline __m256i with_signs(__m256i magnitudes, std::uint32_t signs, int bias)
{
    const __m256i negative = bits_to_bytes(signs, char(0xff));
    // x xor -1, minus -1, is -x
    const __m256i values = _mm256_sub_epi8(_mm256_xor_si256(magnitudes, negative), negative);
    return _mm256_add_epi8(values, _mm256_set1_epi8(char(bias)));
}

/// Four times seven signs to 32.
inline std::uint32_t all_signs(std::uint32_t word)
{
    std::uint32_t signs = 0;
    for (int i = 0; i < 4; ++i)
        signs |= std::uint32_t(kEvenSigns.of[word >> (7 * i) & 127]) << (8 * i);
    return signs;
}

/// The top four bits of eight words.
inline __m256i top_nibbles(const void* words)
{
    return _mm256_srli_epi32(load256(words), 28);
}

struct IQ2_XXS {
    static constexpr int kBias = 64, kGroups = 8, kBytes = sizeof(BlockIQ2_XXS), kMost = 64 + 43;
    static constexpr bool kSigned = false, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockIQ2_XXS*>(at);
        std::uint32_t words[8];
        for (int g = 0; g < 8; ++g) {
            const auto& group = b->groups[g];
            words[g] = word_at<std::uint32_t>(group.signs_and_scale);
            std::uint64_t points[4];
            for (int i = 0; i < 4; ++i)
                points[i] = kIq2xxsBytes.of[group.index[i]];
            store256(c.q + 32 * g, with_signs(load256(points), all_signs(words[g]), kBias));
        }
        put_odd_scales(top_nibbles(words), 0.125f * half_at(&b->scale), c.scale);
    }
};

struct IQ2_XS {
    static constexpr int kBias = 64, kGroups = 8, kBytes = sizeof(BlockIQ2_XS), kMost = 64 + 43;
    static constexpr bool kSigned = false, kHalves = true, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockIQ2_XS*>(at);
        for (int g = 0; g < 8; ++g) {
            std::uint64_t points[4];
            std::uint32_t signs = 0;
            for (int i = 0; i < 4; ++i) {
                const auto point = word_at<std::uint16_t>(b->points + 4 * g + i);
                points[i] = kIq2xsBytes.of[point & 511];
                signs |= std::uint32_t(kEvenSigns.of[point >> 9]) << (8 * i);
            }
            store256(c.q + 32 * g, with_signs(load256(points), signs, kBias));
        }
        put_odd_half_scales(b->scales, 0.125f * half_at(&b->scale), c.scale);
    }
};

struct IQ2_S {
    static constexpr int kBias = 64, kGroups = 8, kBytes = sizeof(BlockIQ2_S), kMost = 64 + 43;
    static constexpr bool kSigned = false, kHalves = true, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockIQ2_S*>(at);
        for (int g = 0; g < 8; ++g) {
            std::uint64_t points[4];
            for (int i = 0; i < 4; ++i)
                points[i] = kIq2sBytes.of[b->index[4 * g + i] | (b->high[g] >> (2 * i) & 3) << 8];
            const auto signs = word_at<std::uint32_t>(b->signs + 4 * g);
            store256(c.q + 32 * g, with_signs(load256(points), signs, kBias));
        }
        put_odd_half_scales(b->scales, 0.125f * half_at(&b->scale), c.scale);
    }
};

struct IQ3_XXS {
    static constexpr int kBias = 64, kGroups = 8, kBytes = sizeof(BlockIQ3_XXS), kMost = 64 + 62;
    static constexpr bool kSigned = false, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockIQ3_XXS*>(at);
        for (int g = 0; g < 8; ++g) {
            std::uint32_t points[8];
            for (int i = 0; i < 8; ++i)
                points[i] = kIq3xxsBytes.of[b->index[8 * g + i]];
            const auto word = word_at<std::uint32_t>(b->signs_and_scales[g]);
            store256(c.q + 32 * g, with_signs(load256(points), all_signs(word), kBias));
        }
        put_odd_scales(top_nibbles(b->signs_and_scales), 0.25f * half_at(&b->scale), c.scale);
    }
};

struct IQ3_S {
    static constexpr int kBias = 16, kGroups = 8, kBytes = sizeof(BlockIQ3_S), kMost = 31;
    static constexpr bool kSigned = false, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockIQ3_S*>(at);
        for (int g = 0; g < 8; ++g) {
            std::uint32_t magnitudes[8];
            for (int i = 0; i < 8; ++i)
                magnitudes[i] = kIq3sGrid[b->q[8 * g + i] | (b->high[g] >> i & 1) << 8];
            const auto signs = word_at<std::uint32_t>(b->signs + 4 * g);
            store256(c.q + 32 * g, with_signs(load256(magnitudes), signs, kBias));
        }
        put_odd_scales(eight_nibbles(b->scales), half_at(&b->scale), c.scale);
    }
};

struct IQ1_S {
    static constexpr int kBias = kIq1Bias, kGroups = 8, kBytes = sizeof(BlockIQ1_S), kMost = kIq1Bias + 9;
    static constexpr bool kSigned = false, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockIQ1_S*>(at);
        for (int g = 0; g < 8; ++g) {
            const int high = word_at<std::uint16_t>(b->high + g);
            std::uint64_t points[4];
            for (int i = 0; i < 4; ++i)
                points[i] = kIq1Bytes.of[b->index[4 * g + i] | (high >> (3 * i) & 7) << 8];
            const __m256i plus = _mm256_set1_epi8(high >> 15 ? 0 : kIq1Plus);
            store256(c.q + 32 * g, _mm256_add_epi8(load256(points), plus));
        }
        const __m256i high = _mm256_cvtepu16_epi32(load128(b->high));
        put_odd_scales(_mm256_and_si256(_mm256_srli_epi32(high, 12), _mm256_set1_epi32(7)), 0.125f * half_at(&b->scale),
                       c.scale);
    }
};

struct IQ1_M {
    static constexpr int kBias = kIq1Bias, kGroups = 8, kBytes = sizeof(BlockIQ1_M), kMost = kIq1Bias + 9;
    static constexpr bool kSigned = false, kHalves = true, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockIQ1_M*>(at);
        for (int g = 0; g < 8; ++g) {
            const std::uint32_t nibbles = word_at<std::uint16_t>(b->high + 2 * g);
            const auto point = [&](int i) {
                const std::uint32_t high = nibbles >> (4 * i) & 7;
                return static_cast<long long>(kIq1Bytes.of[b->index[4 * g + i] | high << 8]);
            };
            const __m256i less =
                _mm256_and_si256(_mm256_srlv_epi64(_mm256_set1_epi64x(nibbles), _mm256_setr_epi64x(3, 7, 11, 15)),
                                 _mm256_set1_epi64x(1));
            const __m256i plus =
                _mm256_and_si256(_mm256_cmpeq_epi64(less, _mm256_setzero_si256()), _mm256_set1_epi8(kIq1Plus));
            store256(c.q + 32 * g, _mm256_add_epi8(_mm256_setr_epi64x(point(0), point(1), point(2), point(3)), plus));
        }
        put_scales(word_at<std::uint64_t>(b->scales), c.scale);
    }

private:
    // Four words of twelve bits of scales, below a nibble of the half.
    static void put_scales(std::uint64_t words, float* to)
    {
        const std::uint64_t top = words >> 12 & 0x000f000f000f000fu;
        const auto half = std::uint16_t(top | top >> 12 | top >> 24 | top >> 36);
        const float scale = 0.125f * half_at(&half);
        const __m256i each = _mm256_cvtepu16_epi32(_mm_set1_epi64x(static_cast<long long>(words)));
        const __m256i twice = _mm256_permutevar8x32_epi32(each, _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3));
        const __m256i seven = _mm256_set1_epi32(7);
        const __m256i first = _mm256_srlv_epi32(twice, _mm256_setr_epi32(0, 6, 0, 6, 0, 6, 0, 6));
        put_odd_scales(_mm256_and_si256(first, seven), scale, to);
        put_odd_scales(_mm256_and_si256(_mm256_srli_epi32(first, 3), seven), scale, to + 8);
    }
};

}  // namespace kernels::avx2
