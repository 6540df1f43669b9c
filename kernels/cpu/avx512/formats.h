// Unpacks 256 weights of each packed type into registers: unsigned bytes in natural order, and a scale for each 32 or
// 16. A weight is scale * (byte - kBias) + offset. Only plain structs and intrinsics here: see kernels/CMakeLists.txt.
#pragma once

#include "kernels/blocks.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kernels::avx512 {

struct Weights256 {
    __m512i q[4];  // 64 weights each
    // Types with a scale for 32 weights use the 8-lane ones; those with a scale for 16 the 16-lane ones: lanes 0..7 are
    // the first halves of the eight groups of 32, lanes 8..15 the second halves.
    __m256 scale, offset;
    __m512 scale16, offset16;
};

// Moves lanes in natural order (16 halves of 8 groups) so that the first halves come before the second halves.
inline __m512 halves_apart(__m512 natural)
{
    return _mm512_permutexvar_ps(_mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15), natural);
}

// Bytes of a block promise no alignment.
template <class Word>
inline Word word_at(const void* at)
{
    Word word;
    std::memcpy(&word, at, sizeof word);
    return word;
}

inline __m128i load128(const void* at)
{
    return _mm_loadu_si128(static_cast<const __m128i*>(at));
}

inline __m256i load256(const void* at)
{
    return _mm256_loadu_si256(static_cast<const __m256i*>(at));
}

inline float half_at(const void* at)
{
    return _mm_cvtss_f32(_mm_cvtph_ps(_mm_cvtsi32_si128(word_at<std::uint16_t>(at))));
}

// ---- blocks of 32: eight at a time ----

template <int Stride>
inline __m256 eight_halves(const std::byte* at)
{
    const auto half = [at](int i) { return word_at<short>(at + i * Stride); };
    return _mm256_cvtph_ps(_mm_setr_epi16(half(0), half(1), half(2), half(3), half(4), half(5), half(6), half(7)));
}

// Returns the 64 nibbles of 16 bytes at each of two places: low nibbles of the first, its high ones, then the second's.
inline __m512i nibbles_of_two(const void* first, const void* second)
{
    const __m512i bytes = _mm512_mask_broadcast_i32x4(_mm512_broadcast_i32x4(load128(first)), 0xff00, load128(second));
    const __m512i counts =
        _mm512_setr_epi64(0, 0, 0x0004000400040004, 0x0004000400040004, 0, 0, 0x0004000400040004, 0x0004000400040004);
    return _mm512_and_si512(_mm512_srlv_epi16(bytes, counts), _mm512_set1_epi8(15));
}

// Returns the 64 nibbles of 32 bytes: low nibbles, then high ones.
inline __m512i nibbles_of(const void* at)
{
    const __m512i bytes = _mm512_broadcast_i64x4(load256(at));
    const __m512i counts =
        _mm512_setr_epi64(0, 0, 0, 0, 0x0004000400040004, 0x0004000400040004, 0x0004000400040004, 0x0004000400040004);
    return _mm512_and_si512(_mm512_srlv_epi16(bytes, counts), _mm512_set1_epi8(15));
}

inline __m512i table16(const std::int8_t* values, int bias)
{
    const __m128i table = _mm_add_epi8(load128(values), _mm_set1_epi8(char(bias)));
    return _mm512_broadcast_i32x4(table);
}

// Returns the fifth bits of two blocks of 32, as 64 bits in the order of their weights.
inline __mmask64 fifth_bits(const std::uint8_t* first, const std::uint8_t* second)
{
    const auto low = word_at<std::uint32_t>(first);
    const auto high = word_at<std::uint32_t>(second);
    return _cvtu64_mask64(std::uint64_t(high) << 32 | low);
}

struct Q4_0 {
    static constexpr int kBias = 8, kGroups = 1, kBytes = sizeof(BlockQ4_0);
    static constexpr bool kHalves = false, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockQ4_0*>(at);
        Weights256 w{};
        for (int i = 0; i < 4; ++i)
            w.q[i] = nibbles_of_two(b[2 * i].nibbles, b[2 * i + 1].nibbles);
        w.scale = eight_halves<kBytes>(at);
        return w;
    }
};

struct Q4_1 {
    static constexpr int kBias = 0, kGroups = 1, kBytes = sizeof(BlockQ4_1);
    static constexpr bool kHalves = false, kOffset = true;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockQ4_1*>(at);
        Weights256 w{};
        for (int i = 0; i < 4; ++i)
            w.q[i] = nibbles_of_two(b[2 * i].nibbles, b[2 * i + 1].nibbles);
        w.scale = eight_halves<kBytes>(at);
        w.offset = eight_halves<kBytes>(at + 2);
        return w;
    }
};

struct Q5_0 {
    static constexpr int kBias = 16, kGroups = 1, kBytes = sizeof(BlockQ5_0);
    static constexpr bool kHalves = false, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockQ5_0*>(at);
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            const __m512i low = nibbles_of_two(b[2 * i].nibbles, b[2 * i + 1].nibbles);
            w.q[i] = _mm512_mask_add_epi8(low, fifth_bits(b[2 * i].high, b[2 * i + 1].high), low, _mm512_set1_epi8(16));
        }
        w.scale = eight_halves<kBytes>(at);
        return w;
    }
};

struct Q5_1 {
    static constexpr int kBias = 0, kGroups = 1, kBytes = sizeof(BlockQ5_1);
    static constexpr bool kHalves = false, kOffset = true;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockQ5_1*>(at);
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            const __m512i low = nibbles_of_two(b[2 * i].nibbles, b[2 * i + 1].nibbles);
            w.q[i] = _mm512_mask_add_epi8(low, fifth_bits(b[2 * i].high, b[2 * i + 1].high), low, _mm512_set1_epi8(16));
        }
        w.scale = eight_halves<kBytes>(at);
        w.offset = eight_halves<kBytes>(at + 2);
        return w;
    }
};

struct Q8_0 {
    static constexpr int kBias = 128, kGroups = 1, kBytes = sizeof(BlockQ8_0);
    static constexpr bool kHalves = false, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockQ8_0*>(at);
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            const __m512i signed_q =
                _mm512_inserti64x4(_mm512_castsi256_si512(load256(b[2 * i].q)), load256(b[2 * i + 1].q), 1);
            w.q[i] = _mm512_xor_si512(signed_q, _mm512_set1_epi8(char(0x80)));
        }
        w.scale = eight_halves<kBytes>(at);
        return w;
    }
};

struct IQ4_NL {
    static constexpr int kBias = 128, kGroups = 1, kBytes = sizeof(BlockIQ4_NL);
    static constexpr bool kHalves = false, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockIQ4_NL*>(at);
        const __m512i table = table16(kIq4Values, kBias);
        Weights256 w{};
        for (int i = 0; i < 4; ++i)
            w.q[i] = _mm512_shuffle_epi8(table, nibbles_of_two(b[2 * i].nibbles, b[2 * i + 1].nibbles));
        w.scale = eight_halves<kBytes>(at);
        return w;
    }
};

struct MXFP4 {
    static constexpr int kBias = 16, kGroups = 1, kBytes = sizeof(BlockMXFP4);
    static constexpr bool kHalves = false, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockMXFP4*>(at);
        const __m512i table = table16(kMxfp4Values, kBias);
        Weights256 w{};
        for (int i = 0; i < 4; ++i)
            w.q[i] = _mm512_shuffle_epi8(table, nibbles_of_two(b[2 * i].nibbles, b[2 * i + 1].nibbles));
        const __m256i exponents = _mm256_setr_epi32(b[0].exponent, b[1].exponent, b[2].exponent, b[3].exponent,
                                                    b[4].exponent, b[5].exponent, b[6].exponent, b[7].exponent);
        const __m256i one = _mm256_set1_epi32(1);
        const __m256i normal = _mm256_slli_epi32(_mm256_sub_epi32(exponents, one), 23);
        const __m256i subnormal = _mm256_sllv_epi32(_mm256_set1_epi32(0x00200000), exponents);
        const __mmask8 tiny = _mm256_cmple_epu32_mask(exponents, one);
        w.scale = _mm256_castsi256_ps(_mm256_mask_mov_epi32(normal, tiny, subnormal));
        return w;
    }
};

/// Returns the scales of NVFP4 for their codes: floats without sign, with four bits of exponent and three of fraction.
/// They are halved, since the table of weights holds doubled values.
inline __m512 nvfp4_scales(__m512i codes)
{
    const __m512i exponent_and_fraction = _mm512_and_si512(codes, _mm512_set1_epi32(127));
    const __m512i normal =
        _mm512_slli_epi32(_mm512_add_epi32(exponent_and_fraction, _mm512_set1_epi32((127 - 8) << 3)), 20);
    const __m512 tiny = _mm512_mul_ps(_mm512_cvtepi32_ps(exponent_and_fraction), _mm512_set1_ps(0x1p-10f));
    const __mmask16 is_tiny = _mm512_cmplt_epi32_mask(exponent_and_fraction, _mm512_set1_epi32(8));
    const __m512 scales = _mm512_mask_mov_ps(_mm512_castsi512_ps(normal), is_tiny, tiny);
    return _mm512_maskz_mov_ps(_mm512_cmpneq_epi32_mask(codes, _mm512_set1_epi32(127)), scales);
}

/// Blocks of 64: four at a time.
struct NVFP4 {
    static constexpr int kBias = 16, kGroups = 2, kBytes = sizeof(BlockNVFP4);
    static constexpr bool kHalves = true, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockNVFP4*>(at);
        const __m512i table = table16(kMxfp4Values, kBias);
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            // Eight bytes of a group of 16, twice; then its low nibbles and its high ones.
            const __m512i bytes = _mm512_permutexvar_epi64(_mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3),
                                                           _mm512_castsi256_si512(load256(b[i].nibbles)));
            const __m512i shifted = _mm512_srlv_epi64(bytes, _mm512_setr_epi64(0, 4, 0, 4, 0, 4, 0, 4));
            w.q[i] = _mm512_shuffle_epi8(table, _mm512_and_si512(shifted, _mm512_set1_epi8(15)));
        }
        const __m128i codes = _mm_setr_epi32(word_at<int>(b[0].scales), word_at<int>(b[1].scales),
                                             word_at<int>(b[2].scales), word_at<int>(b[3].scales));
        w.scale16 = halves_apart(nvfp4_scales(_mm512_cvtepu8_epi32(codes)));
        return w;
    }
};

// ---- blocks of 256 ----

inline __m256 eight_bytes_scaled(std::uint64_t bytes, float scale)
{
    const __m256i wide = _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(bytes)));
    return _mm256_mul_ps(_mm256_cvtepi32_ps(wide), _mm256_set1_ps(scale));
}

// Unpacks the six-bit scales and mins of Q4_K and Q5_K.
inline void k_scales(const std::uint8_t* packed, float scale, float min_scale, Weights256& w)
{
    const auto a = word_at<std::uint32_t>(packed);
    const auto b = word_at<std::uint32_t>(packed + 4);
    const auto c = word_at<std::uint32_t>(packed + 8);
    const std::uint32_t scales_high = (c & 0x0f0f0f0fu) | (a >> 2 & 0x30303030u);
    const std::uint32_t mins_high = (c >> 4 & 0x0f0f0f0fu) | (b >> 2 & 0x30303030u);
    w.scale = eight_bytes_scaled(std::uint64_t(scales_high) << 32 | (a & 0x3f3f3f3fu), scale);
    w.offset = eight_bytes_scaled(std::uint64_t(mins_high) << 32 | (b & 0x3f3f3f3fu), -min_scale);
}

struct Q4_K {
    static constexpr int kBias = 0, kGroups = 8, kBytes = sizeof(BlockQ4_K);
    static constexpr bool kHalves = false, kOffset = true;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockQ4_K*>(at);
        Weights256 w{};
        for (int i = 0; i < 4; ++i)
            w.q[i] = nibbles_of(b->nibbles + 32 * i);
        k_scales(b->scales, half_at(&b->scale), half_at(&b->min_scale), w);
        return w;
    }
};

// Says where bit `first` (lower 32 bytes) and bit `second` (upper) of the 32 bytes of `high` are set.
inline __mmask64 bit_planes(__m512i high, int first, int second)
{
    const __m512i bits = _mm512_inserti64x4(_mm512_set1_epi8(char(1 << first)), _mm256_set1_epi8(char(1 << second)), 1);
    return _mm512_test_epi8_mask(high, bits);
}

struct Q5_K {
    static constexpr int kBias = 0, kGroups = 8, kBytes = sizeof(BlockQ5_K);
    static constexpr bool kHalves = false, kOffset = true;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockQ5_K*>(at);
        const __m512i high = _mm512_broadcast_i64x4(load256(b->high));
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            const __m512i low = nibbles_of(b->nibbles + 32 * i);
            w.q[i] = _mm512_mask_add_epi8(low, bit_planes(high, 2 * i, 2 * i + 1), low, _mm512_set1_epi8(16));
        }
        k_scales(b->scales, half_at(&b->scale), half_at(&b->min_scale), w);
        return w;
    }
};

inline __m512 sixteen_bytes_scaled(__m128i bytes, float scale)
{
    return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(bytes)), _mm512_set1_ps(scale));
}

// Returns shift counts for 16-bit lanes: `first` in the lower 32 bytes, `second` in the upper.
inline __m512i two_counts(int first, int second)
{
    return _mm512_inserti64x4(_mm512_set1_epi16(short(first)), _mm256_set1_epi16(short(second)), 1);
}

struct Q6_K {
    static constexpr int kBias = 32, kGroups = 8, kBytes = sizeof(BlockQ6_K);
    static constexpr bool kHalves = true, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockQ6_K*>(at);
        const __m512i low_bits = _mm512_set1_epi8(15);
        const __m512i high_bits = _mm512_set1_epi8(0x30);
        constexpr int kSelectOr = 0xea;  // (first & second) | third
        Weights256 w{};
        for (int half = 0; half < 2; ++half) {
            const __m512i low = _mm512_loadu_si512(b->low + 64 * half);
            const __m512i high = _mm512_broadcast_i64x4(load256(b->high + 32 * half));
            const __m512i high01 = _mm512_and_si512(_mm512_sllv_epi16(high, two_counts(4, 2)), high_bits);
            const __m512i high23 = _mm512_and_si512(_mm512_srlv_epi16(high, two_counts(0, 2)), high_bits);
            w.q[2 * half] = _mm512_ternarylogic_epi32(low, low_bits, high01, kSelectOr);
            w.q[2 * half + 1] = _mm512_ternarylogic_epi32(_mm512_srli_epi16(low, 4), low_bits, high23, kSelectOr);
        }
        const __m128i scales = load128(b->scales);
        w.scale16 = halves_apart(sixteen_bytes_scaled(scales, half_at(&b->scale)));
        return w;
    }
};

// Returns 64 two-bit numbers, whose bits lie at positions 2 * part and 2 * part + 2 of the same 32 bytes.
inline __m512i bit_pairs(const std::uint8_t* at, int part)
{
    const __m512i bytes = _mm512_broadcast_i64x4(load256(at));
    return _mm512_and_si512(_mm512_srlv_epi16(bytes, two_counts(2 * part, 2 * part + 2)), _mm512_set1_epi8(3));
}

struct Q2_K {
    static constexpr int kBias = 0, kGroups = 8, kBytes = sizeof(BlockQ2_K);
    static constexpr bool kHalves = true, kOffset = true;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockQ2_K*>(at);
        Weights256 w{};
        for (int i = 0; i < 4; ++i)
            w.q[i] = bit_pairs(b->q + 32 * (i / 2), 2 * (i % 2));
        const __m128i packed = load128(b->scales);
        const __m128i scales = _mm_and_si128(packed, _mm_set1_epi8(15));
        const __m128i mins = _mm_and_si128(_mm_srli_epi16(packed, 4), _mm_set1_epi8(15));
        w.scale16 = halves_apart(sixteen_bytes_scaled(scales, half_at(&b->scale)));
        w.offset16 = halves_apart(sixteen_bytes_scaled(mins, -half_at(&b->min_scale)));
        return w;
    }
};

struct Q3_K {
    static constexpr int kBias = 4, kGroups = 8, kBytes = sizeof(BlockQ3_K);
    static constexpr bool kHalves = true, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockQ3_K*>(at);
        const __m512i high = _mm512_broadcast_i64x4(load256(b->high));
        Weights256 w{};
        for (int i = 0; i < 4; ++i) {
            const __m512i low = bit_pairs(b->q + 32 * (i / 2), 2 * (i % 2));
            w.q[i] = _mm512_mask_add_epi8(low, bit_planes(high, 2 * i, 2 * i + 1), low, _mm512_set1_epi8(4));
        }
        const auto first = word_at<std::uint64_t>(b->scales);
        const __m128i low = _mm_set_epi64x(static_cast<long long>(first >> 4), static_cast<long long>(first));
        const __m128i high_pairs =
            _mm_srlv_epi32(_mm_set1_epi32(word_at<int>(b->scales + 8)), _mm_setr_epi32(0, 2, 4, 6));
        const __m128i six_bits = _mm_or_si128(_mm_and_si128(low, _mm_set1_epi8(15)),
                                              _mm_slli_epi16(_mm_and_si128(high_pairs, _mm_set1_epi8(3)), 4));
        const __m128i scales = _mm_sub_epi8(six_bits, _mm_set1_epi8(32));
        w.scale16 = halves_apart(sixteen_bytes_scaled(scales, half_at(&b->scale)));
        return w;
    }
};

struct IQ4_XS {
    static constexpr int kBias = 128, kGroups = 8, kBytes = sizeof(BlockIQ4_XS);
    static constexpr bool kHalves = false, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockIQ4_XS*>(at);
        const __m512i table = table16(kIq4Values, kBias);
        Weights256 w{};
        for (int i = 0; i < 4; ++i)
            w.q[i] = _mm512_shuffle_epi8(table, nibbles_of_two(b->nibbles + 32 * i, b->nibbles + 32 * i + 16));
        const __m256i low = _mm256_srlv_epi32(_mm256_set1_epi32(word_at<int>(b->scales_low)),
                                              _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28));
        const __m256i high =
            _mm256_srlv_epi32(_mm256_set1_epi32(b->scales_high), _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
        const __m256i six_bits = _mm256_or_si256(_mm256_and_si256(low, _mm256_set1_epi32(15)),
                                                 _mm256_slli_epi32(_mm256_and_si256(high, _mm256_set1_epi32(3)), 4));
        const __m256i group_scale = _mm256_sub_epi32(six_bits, _mm256_set1_epi32(32));
        w.scale = _mm256_mul_ps(_mm256_cvtepi32_ps(group_scale), _mm256_set1_ps(half_at(&b->scale)));
        return w;
    }
};

}  // namespace kernels::avx512
