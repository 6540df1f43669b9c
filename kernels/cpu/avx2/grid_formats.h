// Unpacks the types whose weights are points of a grid, IQ1, IQ2 and IQ3, as formats.h says.
#pragma once

#include "kernels/cpu/avx2/formats.h"
#include "kernels/cpu/grid_bytes.h"

namespace kernels::avx2 {

/// Writes scale * (2 s + 1) for eight groups.
inline void put_odd_scales(__m256i s, float scale, float* to)
{
    put_scaled(_mm256_add_epi32(_mm256_add_epi32(s, s), _mm256_set1_epi32(1)), scale, to);
}

/// Writes scale * (2 s + 1) for sixteen half groups, whose s are the nibbles of eight bytes.
inline void put_odd_half_scales(const std::uint8_t* nibbles, float scale, float* to)
{
    const __m256i bytes = eight_bytes(word_at<std::uint64_t>(nibbles));
    put_odd_scales(_mm256_and_si256(bytes, _mm256_set1_epi32(15)), scale, to);
    put_odd_scales(_mm256_srli_epi32(bytes, 4), scale, to + 8);
}

/// Returns the 32 magnitudes, negated where a bit of `signs` is set, plus the bias.
inline __m256i with_signs(__m256i magnitudes, std::uint32_t signs, int bias)
{
    const __m256i negative = bits_to_bytes(signs, char(0xff));
    // x xor -1, minus -1, is -x
    const __m256i values = _mm256_sub_epi8(_mm256_xor_si256(magnitudes, negative), negative);
    return _mm256_add_epi8(values, _mm256_set1_epi8(char(bias)));
}

/// Returns four points of eight weights side by side, without storing them to memory first.
inline __m256i four_points(std::uint64_t first, std::uint64_t second, std::uint64_t third, std::uint64_t fourth)
{
    const auto word = [](std::uint64_t point) { return static_cast<long long>(point); };
    return _mm256_setr_epi64x(word(first), word(second), word(third), word(fourth));
}

/// Returns eight points of four weights side by side; point(i) gives the i-th.
template <class Point>
inline __m256i eight_points(const Point& point)
{
    const auto two = [&](int i) { return std::uint64_t(point(i)) | std::uint64_t(point(i + 1)) << 32; };
    return four_points(two(0), two(2), two(4), two(6));
}

/// Returns the seven signs in each byte with an eighth, which makes the number of set ones even.
inline __m256i completed_signs(__m256i sevens)
{
    // What a shift brings in from a neighbouring byte stays above the bits that count.
    __m256i odd = _mm256_xor_si256(sevens, _mm256_srli_epi16(sevens, 4));
    odd = _mm256_xor_si256(odd, _mm256_srli_epi16(odd, 2));
    odd = _mm256_xor_si256(odd, _mm256_srli_epi16(odd, 1));
    return _mm256_or_si256(sevens, _mm256_slli_epi16(_mm256_and_si256(odd, _mm256_set1_epi8(1)), 7));
}

/// The signs of a block, 32 bits a group.
struct GroupSigns {
    std::uint32_t of[8];
    explicit GroupSigns(__m256i sevens) { store256(of, completed_signs(sevens)); }
};

/// Reads a block's signs from its groups' words, each of which has four times seven bits of them at its bottom.
inline GroupSigns signs_of_words(__m256i words)
{
    const auto field = [&](int i) {
        return _mm256_and_si256(_mm256_sllv_epi32(words, _mm256_set1_epi32(i)), _mm256_set1_epi32(0x7f << (8 * i)));
    };
    return GroupSigns(_mm256_or_si256(_mm256_or_si256(field(0), field(1)), _mm256_or_si256(field(2), field(3))));
}

/// Returns the top four bits of each of eight words.
inline __m256i top_nibbles(__m256i words)
{
    return _mm256_srli_epi32(words, 28);
}

struct IQ2_XXS {
    static constexpr int kBias = 64, kGroups = 8, kBytes = sizeof(BlockIQ2_XXS), kMost = 64 + 43;
    static constexpr bool kSigned = false, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockIQ2_XXS*>(at);
        // Every second word, in order.
        const __m256 low = _mm256_castsi256_ps(load256(b->groups)), high = _mm256_castsi256_ps(load256(b->groups + 4));
        const __m256i mixed = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0xdd));
        const __m256i words = _mm256_permute4x64_epi64(mixed, 0xd8);
        const GroupSigns signs = signs_of_words(words);
        for (int g = 0; g < 8; ++g) {
            const auto& group = b->groups[g];
            const auto point = [&](int i) { return kIq2xxsBytes.of[group.index[i]]; };
            store256(c.q + 32 * g, with_signs(four_points(point(0), point(1), point(2), point(3)), signs.of[g], kBias));
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
        const __m256i low = _mm256_srli_epi16(load256(b->points), 9);
        const __m256i high = _mm256_srli_epi16(load256(b->points + 16), 9);
        const GroupSigns signs(_mm256_permute4x64_epi64(_mm256_packus_epi16(low, high), 0xd8));
        for (int g = 0; g < 8; ++g) {
            const auto four = word_at<std::uint64_t>(b->points + 4 * g);
            const auto point = [&](int i) { return kIq2xsBytes.of[four >> (16 * i) & 511]; };
            store256(c.q + 32 * g, with_signs(four_points(point(0), point(1), point(2), point(3)), signs.of[g], kBias));
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
            const auto point = [&](int i) {
                return kIq2sBytes.of[b->index[4 * g + i] | (b->high[g] >> (2 * i) & 3) << 8];
            };
            const auto signs = word_at<std::uint32_t>(b->signs + 4 * g);
            store256(c.q + 32 * g, with_signs(four_points(point(0), point(1), point(2), point(3)), signs, kBias));
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
        const __m256i words = load256(b->signs_and_scales);
        const GroupSigns signs = signs_of_words(words);
        for (int g = 0; g < 8; ++g) {
            const __m256i points = eight_points([&](int i) { return kIq3xxsBytes.of[b->index[8 * g + i]]; });
            store256(c.q + 32 * g, with_signs(points, signs.of[g], kBias));
        }
        put_odd_scales(top_nibbles(words), 0.25f * half_at(&b->scale), c.scale);
    }
};

struct IQ3_S {
    static constexpr int kBias = 16, kGroups = 8, kBytes = sizeof(BlockIQ3_S), kMost = 31;
    static constexpr bool kSigned = false, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockIQ3_S*>(at);
        for (int g = 0; g < 8; ++g) {
            const __m256i points =
                eight_points([&](int i) { return kIq3sGrid[b->q[8 * g + i] | (b->high[g] >> i & 1) << 8]; });
            const auto signs = word_at<std::uint32_t>(b->signs + 4 * g);
            store256(c.q + 32 * g, with_signs(points, signs, kBias));
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
            const auto point = [&](int i) { return kIq1Bytes.of[b->index[4 * g + i] | (high >> (3 * i) & 7) << 8]; };
            const __m256i plus = _mm256_set1_epi8(high >> 15 ? 0 : kIq1Plus);
            store256(c.q + 32 * g, _mm256_add_epi8(four_points(point(0), point(1), point(2), point(3)), plus));
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
                return kIq1Bytes.of[b->index[4 * g + i] | high << 8];
            };
            const __m256i less =
                _mm256_and_si256(_mm256_srlv_epi64(_mm256_set1_epi64x(nibbles), _mm256_setr_epi64x(3, 7, 11, 15)),
                                 _mm256_set1_epi64x(1));
            const __m256i plus =
                _mm256_and_si256(_mm256_cmpeq_epi64(less, _mm256_setzero_si256()), _mm256_set1_epi8(kIq1Plus));
            store256(c.q + 32 * g, _mm256_add_epi8(four_points(point(0), point(1), point(2), point(3)), plus));
        }
        put_scales(word_at<std::uint64_t>(b->scales), c.scale);
    }

private:
    // words: four of 16 bits, each with twelve bits of group scales and above them a nibble of the block's scale.
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
