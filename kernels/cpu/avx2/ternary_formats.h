// Unpacks the ternary types, as formats.h says.
#pragma once

#include "kernels/cpu/avx2/formats.h"

namespace kernels::avx2 {

struct TQ1_0 {
    static constexpr int kBias = 1, kGroups = 8, kBytes = sizeof(BlockTQ1_0), kMost = 2;
    static constexpr bool kSigned = false, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockTQ1_0*>(at);
        __m256i long_planes = load256(b->q);
        __m256i short_planes = _mm256_castsi128_si256(load128(b->q + 32));
        __m256i last = _mm256_castsi128_si256(_mm_cvtsi32_si128(word_at<int>(b->last)));
        for (int t = 0; t < 5; ++t) {
            store256(c.q + 32 * t, next_trits(long_planes));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(c.q + 160 + 16 * t),
                             _mm256_castsi256_si128(next_trits(short_planes)));
            if (t == 4)
                break;
            const int four = _mm256_cvtsi256_si32(next_trits(last));
            std::memcpy(c.q + 240 + 4 * t, &four, 4);
        }
        const __m256 scale = _mm256_set1_ps(half_at(&b->scale));
        _mm256_storeu_ps(c.scale, scale);
    }

private:
    // Returns the first trit of each byte, which is 1 above 255 / 3 and 2 above 2 * 255 / 3, and removes it from the
    // byte.
    static __m256i next_trits(__m256i& bytes)
    {
        const auto from = [&](int least) {
            const __m256i bound = _mm256_set1_epi8(char(least));
            return _mm256_cmpeq_epi8(_mm256_max_epu8(bytes, bound), bytes);
        };
        const __m256i minus = _mm256_add_epi8(from(86), from(171));
        bytes = _mm256_add_epi8(bytes, _mm256_add_epi8(bytes, bytes));
        return _mm256_sub_epi8(_mm256_setzero_si256(), minus);
    }
};

struct TQ2_0 {
    static constexpr int kBias = 1, kGroups = 8, kBytes = sizeof(BlockTQ2_0), kMost = 3;
    static constexpr bool kSigned = false, kHalves = false, kOffset = false;
    static void unpack(const std::byte* at, int, Chunk256& c)
    {
        const auto* b = reinterpret_cast<const BlockTQ2_0*>(at);
        for (int g = 0; g < 8; ++g)
            store256(c.q + 32 * g, bit_pairs(b->q, g));
        _mm256_storeu_ps(c.scale, _mm256_set1_ps(half_at(&b->scale)));
    }
};

}  // namespace kernels::avx2
