// Unpacks 256 weights (fewer at the end of a row) of each packed type into bytes, and a scale for each 32 or 16. A
// weight is scale * (byte - kBias) + offset. With kSigned the bytes are signed and there is no bias. No byte is larger
// than kMost. Only plain structs and intrinsics here: see kernels/CMakeLists.txt.
#pragma once

#include "kernels/blocks.h"

#include <immintrin.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace kernels::avx2 {

/// Eight groups of 32. Scales and offsets: one a group; or those of the first halves, then of the second halves.
struct Chunk256 {
    std::uint8_t q[256];
    float scale[16];
    float offset[16];
};

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

inline void store256(void* at, __m256i x)
{
    _mm256_storeu_si256(static_cast<__m256i*>(at), x);
}

inline float half_at(const void* at)
{
    return _cvtsh_ss(word_at<std::uint16_t>(at));
}

// Returns the 32 nibbles of 16 bytes: low nibbles, then high ones.
inline __m256i nibbles_of(const void* at)
{
    const __m128i bytes = load128(at);
    return _mm256_and_si256(_mm256_set_m128i(_mm_srli_epi16(bytes, 4), bytes), _mm256_set1_epi8(15));
}

// Returns 32 bytes, one for each bit: `value` where the bit is set, else 0.
inline __m256i bits_to_bytes(std::uint32_t bits, char value)
{
    const __m256i spread =
        _mm256_shuffle_epi8(_mm256_set1_epi32(int(bits)),
                            _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303));
    const __m256i each = _mm256_set1_epi64x(static_cast<long long>(0x8040201008040201u));
    const __m256i set = _mm256_cmpeq_epi8(_mm256_and_si256(spread, each), each);
    return _mm256_and_si256(set, _mm256_set1_epi8(value));
}

// Returns `value` in each byte of which bit `bit` is set.
inline __m256i bit_plane(__m256i bytes, int bit, char value)
{
    const __m256i mask = _mm256_set1_epi8(char(1 << bit));
    return _mm256_and_si256(_mm256_cmpeq_epi8(_mm256_and_si256(bytes, mask), mask), _mm256_set1_epi8(value));
}

inline __m256i table_lookup(const std::int8_t* values, __m256i index, int bias)
{
    const __m256i table = _mm256_broadcastsi128_si256(load128(values));
    return _mm256_shuffle_epi8(_mm256_add_epi8(table, _mm256_set1_epi8(char(bias))), index);
}

// ---- blocks of 32 ----

struct Q4_0 {
    static constexpr int kBias = 8, kGroups = 1, kBytes = sizeof(BlockQ4_0), kMost = 15;
    static constexpr bool kSigned = false, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int groups, Chunk256& c)
    {
        for (int g = 0; g < groups; ++g, at += kBytes) {
            store256(c.q + 32 * g, nibbles_of(at + 2));
            c.scale[g] = half_at(at);
        }
    }
};

struct Q4_1 {
    static constexpr int kBias = 0, kGroups = 1, kBytes = sizeof(BlockQ4_1), kMost = 15;
    static constexpr bool kSigned = false, kHalves = false, kOffset = true;
    static void unpack(const std::byte* at, int groups, Chunk256& c)
    {
        for (int g = 0; g < groups; ++g, at += kBytes) {
            store256(c.q + 32 * g, nibbles_of(at + 4));
            c.scale[g] = half_at(at);
            c.offset[g] = half_at(at + 2);
        }
    }
};

struct Q5_0 {
    static constexpr int kBias = 16, kGroups = 1, kBytes = sizeof(BlockQ5_0), kMost = 31;
    static constexpr bool kSigned = false, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int groups, Chunk256& c)
    {
        for (int g = 0; g < groups; ++g, at += kBytes) {
            const __m256i fifth = bits_to_bytes(word_at<std::uint32_t>(at + 2), 16);
            store256(c.q + 32 * g, _mm256_or_si256(nibbles_of(at + 6), fifth));
            c.scale[g] = half_at(at);
        }
    }
};

struct Q5_1 {
    static constexpr int kBias = 0, kGroups = 1, kBytes = sizeof(BlockQ5_1), kMost = 31;
    static constexpr bool kSigned = false, kHalves = false, kOffset = true;
    static void unpack(const std::byte* at, int groups, Chunk256& c)
    {
        for (int g = 0; g < groups; ++g, at += kBytes) {
            const __m256i fifth = bits_to_bytes(word_at<std::uint32_t>(at + 4), 16);
            store256(c.q + 32 * g, _mm256_or_si256(nibbles_of(at + 8), fifth));
            c.scale[g] = half_at(at);
            c.offset[g] = half_at(at + 2);
        }
    }
};

struct Q8_0 {
    static constexpr int kBias = 0, kGroups = 1, kBytes = sizeof(BlockQ8_0), kMost = 128;
    static constexpr bool kSigned = true, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int groups, Chunk256& c)
    {
        for (int g = 0; g < groups; ++g, at += kBytes) {
            store256(c.q + 32 * g, load256(at + 2));
            c.scale[g] = half_at(at);
        }
    }
};

struct IQ4_NL {
    static constexpr int kBias = 0, kGroups = 1, kBytes = sizeof(BlockIQ4_NL), kMost = 127;
    static constexpr bool kSigned = true, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int groups, Chunk256& c)
    {
        for (int g = 0; g < groups; ++g, at += kBytes) {
            store256(c.q + 32 * g, table_lookup(kIq4Values, nibbles_of(at + 2), 0));
            c.scale[g] = half_at(at);
        }
    }
};

struct MXFP4 {
    static constexpr int kBias = 16, kGroups = 1, kBytes = sizeof(BlockMXFP4), kMost = 28;
    static constexpr bool kSigned = false, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int groups, Chunk256& c)
    {
        for (int g = 0; g < groups; ++g, at += kBytes) {
            store256(c.q + 32 * g, table_lookup(kMxfp4Values, nibbles_of(at + 1), kBias));
            const auto exponent = std::uint32_t(word_at<std::uint8_t>(at));
            const std::uint32_t bits = exponent < 2 ? 0x00200000u << exponent : (exponent - 1) << 23;
            std::memcpy(&c.scale[g], &bits, 4);
        }
    }
};

/// The scales of NVFP4 by their code: floats without sign, with four bits of exponent and three of fraction. They are
/// halved, since the table of weights holds doubled values.
struct Nvfp4Scales {
    float of[256];
};
constexpr Nvfp4Scales nvfp4_scales()
{
    Nvfp4Scales scales{};
    for (int code = 0; code < 256; ++code) {
        const int exponent = code >> 3 & 15, fraction = code & 7;
        const int eighths = exponent == 0 ? fraction : 8 + fraction;
        float scale = float(eighths) * 0x1p-10f;
        for (int e = 1; e < exponent; ++e)
            scale *= 2;
        scales.of[code] = code == 127 ? 0.0f : scale;
    }
    return scales;
}
inline constexpr Nvfp4Scales kNvfp4Scales = nvfp4_scales();

struct NVFP4 {
    static constexpr int kBias = 16, kGroups = 2, kBytes = sizeof(BlockNVFP4), kMost = 28;
    static constexpr bool kSigned = false, kHalves = true, kOffset = false;
    static void unpack(const std::byte* at, int groups, Chunk256& c)
    {
        for (int g = 0; g < groups; ++g) {
            const auto* b = reinterpret_cast<const BlockNVFP4*>(at) + g / 2;
            const __m128i bytes = load128(b->nibbles + 16 * (g % 2)), four_bits = _mm_set1_epi8(15);
            const __m128i low = _mm_and_si128(bytes, four_bits);
            const __m128i high = _mm_and_si128(_mm_srli_epi16(bytes, 4), four_bits);
            const __m256i natural = _mm256_set_m128i(_mm_unpackhi_epi64(low, high), _mm_unpacklo_epi64(low, high));
            store256(c.q + 32 * g, table_lookup(kMxfp4Values, natural, kBias));
            for (int h = 0; h < 2; ++h)
                c.scale[8 * h + g] = kNvfp4Scales.of[b->scales[2 * (g % 2) + h]];
        }
    }
};

// ---- blocks of 256 ----

inline void put_scaled(__m256i integers, float scale, float* to)
{
    _mm256_storeu_ps(to, _mm256_mul_ps(_mm256_cvtepi32_ps(integers), _mm256_set1_ps(scale)));
}

// Writes the scales of half groups: 16 signed bytes in the groups' order times `scale`. Those of the groups' first
// halves come first, then those of the second halves.
inline void put_halves(__m128i bytes, float scale, float* to)
{
    const __m128i apart = _mm_shuffle_epi8(bytes, _mm_setr_epi8(0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15));
    put_scaled(_mm256_cvtepi8_epi32(apart), scale, to);
    put_scaled(_mm256_cvtepi8_epi32(_mm_srli_si128(apart, 8)), scale, to + 8);
}

inline __m256i eight_bytes(std::uint64_t bytes)
{
    return _mm256_cvtepu8_epi32(_mm_cvtsi64_si128(static_cast<long long>(bytes)));
}

// Unpacks the six-bit scales and mins of Q4_K and Q5_K.
inline void k_scales(const std::uint8_t* packed, float scale, float min_scale, Chunk256& chunk)
{
    const auto a = word_at<std::uint32_t>(packed);
    const auto b = word_at<std::uint32_t>(packed + 4);
    const auto c = word_at<std::uint32_t>(packed + 8);
    const std::uint32_t scales_high = (c & 0x0f0f0f0fu) | (a >> 2 & 0x30303030u);
    const std::uint32_t mins_high = (c >> 4 & 0x0f0f0f0fu) | (b >> 2 & 0x30303030u);
    put_scaled(eight_bytes(std::uint64_t(scales_high) << 32 | (a & 0x3f3f3f3fu)), scale, chunk.scale);
    put_scaled(eight_bytes(std::uint64_t(mins_high) << 32 | (b & 0x3f3f3f3fu)), -min_scale, chunk.offset);
}

struct Q4_K {
    static constexpr int kBias = 0, kGroups = 8, kBytes = sizeof(BlockQ4_K), kMost = 15;
    static constexpr bool kSigned = false, kHalves = false, kOffset = true;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockQ4_K*>(at);
        const __m256i low_bits = _mm256_set1_epi8(15);
        for (int i = 0; i < 4; ++i) {
            const __m256i bytes = load256(b->nibbles + 32 * i);
            store256(c.q + 64 * i, _mm256_and_si256(bytes, low_bits));
            store256(c.q + 64 * i + 32, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_bits));
        }
        k_scales(b->scales, half_at(&b->scale), half_at(&b->min_scale), c);
    }
};

struct Q5_K {
    static constexpr int kBias = 0, kGroups = 8, kBytes = sizeof(BlockQ5_K), kMost = 31;
    static constexpr bool kSigned = false, kHalves = false, kOffset = true;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockQ5_K*>(at);
        const __m256i low_bits = _mm256_set1_epi8(15);
        const __m256i high = load256(b->high);
        for (int i = 0; i < 4; ++i) {
            const __m256i bytes = load256(b->nibbles + 32 * i);
            const __m256i low = _mm256_and_si256(bytes, low_bits);
            const __m256i next = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low_bits);
            store256(c.q + 64 * i, _mm256_or_si256(low, bit_plane(high, 2 * i, 16)));
            store256(c.q + 64 * i + 32, _mm256_or_si256(next, bit_plane(high, 2 * i + 1, 16)));
        }
        k_scales(b->scales, half_at(&b->scale), half_at(&b->min_scale), c);
    }
};

struct Q6_K {
    static constexpr int kBias = 32, kGroups = 8, kBytes = sizeof(BlockQ6_K), kMost = 63;
    static constexpr bool kSigned = false, kHalves = true, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockQ6_K*>(at);
        const __m256i low_bits = _mm256_set1_epi8(15);
        const __m256i high_bits = _mm256_set1_epi8(0x30);
        for (int half = 0; half < 2; ++half) {
            const __m256i high = load256(b->high + 32 * half);
            const __m256i high_of[4] = {_mm256_slli_epi16(high, 4), _mm256_slli_epi16(high, 2), high,
                                        _mm256_srli_epi16(high, 2)};
            for (int part = 0; part < 4; ++part) {
                __m256i low = load256(b->low + 64 * half + 32 * (part % 2));
                if (part >= 2)
                    low = _mm256_srli_epi16(low, 4);
                store256(c.q + 128 * half + 32 * part,
                         _mm256_or_si256(_mm256_and_si256(low, low_bits), _mm256_and_si256(high_of[part], high_bits)));
            }
        }
        put_halves(load128(b->scales), half_at(&b->scale), c.scale);
    }
};

// Returns the 32 two-bit numbers of one of eight groups; 32 bytes hold four groups.
inline __m256i bit_pairs(const std::uint8_t* q, int group)
{
    const __m256i bytes = load256(q + 32 * (group / 4));
    return _mm256_and_si256(_mm256_srl_epi16(bytes, _mm_cvtsi32_si128(2 * (group % 4))), _mm256_set1_epi8(3));
}

struct Q2_K {
    static constexpr int kBias = 0, kGroups = 8, kBytes = sizeof(BlockQ2_K), kMost = 3;
    static constexpr bool kSigned = false, kHalves = true, kOffset = true;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockQ2_K*>(at);
        for (int g = 0; g < 8; ++g)
            store256(c.q + 32 * g, bit_pairs(b->q, g));
        const __m128i packed = load128(b->scales);
        put_halves(_mm_and_si128(packed, _mm_set1_epi8(15)), half_at(&b->scale), c.scale);
        put_halves(_mm_and_si128(_mm_srli_epi16(packed, 4), _mm_set1_epi8(15)), -half_at(&b->min_scale), c.offset);
    }
};

struct Q3_K {
    static constexpr int kBias = 4, kGroups = 8, kBytes = sizeof(BlockQ3_K), kMost = 7;
    static constexpr bool kSigned = false, kHalves = true, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockQ3_K*>(at);
        const __m256i high = load256(b->high);
        for (int g = 0; g < 8; ++g)
            store256(c.q + 32 * g, _mm256_or_si256(bit_pairs(b->q, g), bit_plane(high, g, 4)));
        const auto first = word_at<std::uint64_t>(b->scales);
        const __m128i low = _mm_set_epi64x(static_cast<long long>(first >> 4), static_cast<long long>(first));
        const __m128i high_pairs =
            _mm_srlv_epi32(_mm_set1_epi32(word_at<int>(b->scales + 8)), _mm_setr_epi32(0, 2, 4, 6));
        const __m128i six_bits = _mm_or_si128(_mm_and_si128(low, _mm_set1_epi8(15)),
                                              _mm_slli_epi16(_mm_and_si128(high_pairs, _mm_set1_epi8(3)), 4));
        put_halves(_mm_sub_epi8(six_bits, _mm_set1_epi8(32)), half_at(&b->scale), c.scale);
    }
};

inline __m256i eight_nibbles(const std::uint8_t* at)
{
    const __m256i packed = _mm256_set1_epi32(word_at<int>(at));
    return _mm256_and_si256(_mm256_srlv_epi32(packed, _mm256_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28)),
                            _mm256_set1_epi32(15));
}

struct IQ4_XS {
    static constexpr int kBias = 0, kGroups = 8, kBytes = sizeof(BlockIQ4_XS), kMost = 127;
    static constexpr bool kSigned = true, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockIQ4_XS*>(at);
        for (int g = 0; g < 8; ++g)
            store256(c.q + 32 * g, table_lookup(kIq4Values, nibbles_of(b->nibbles + 16 * g), 0));
        const __m256i high =
            _mm256_srlv_epi32(_mm256_set1_epi32(b->scales_high), _mm256_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14));
        const __m256i six_bits = _mm256_or_si256(eight_nibbles(b->scales_low),
                                                 _mm256_slli_epi32(_mm256_and_si256(high, _mm256_set1_epi32(3)), 4));
        put_scaled(_mm256_sub_epi32(six_bits, _mm256_set1_epi32(32)), half_at(&b->scale), c.scale);
    }
};

}  // namespace kernels::avx2
