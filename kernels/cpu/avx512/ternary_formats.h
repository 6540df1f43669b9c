// Loads the ternary types, as formats.h says.
#pragma once

#include "kernels/cpu/avx512/formats.h"

namespace kernels::avx512 {

/// Returns the first trit of each byte, which is 1 above 255 / 3 and 2 above 2 * 255 / 3, and removes it from the byte.
inline __m512i next_trits(__m512i& bytes)
{
    const __mmask64 one = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(86));
    const __mmask64 two = _mm512_cmpge_epu8_mask(bytes, _mm512_set1_epi8(char(171)));
    bytes = _mm512_add_epi8(bytes, _mm512_add_epi8(bytes, bytes));
    return _mm512_mask_mov_epi8(_mm512_maskz_set1_epi8(one, 1), two, _mm512_set1_epi8(2));
}

struct TQ1_0 {
    static constexpr int kBias = 1, kGroups = 8, kBytes = sizeof(BlockTQ1_0);
    static constexpr bool kHalves = false, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockTQ1_0*>(at);
        __m512i bytes = _mm512_maskz_loadu_epi8((std::uint64_t(1) << 52) - 1, b->q);
        std::uint8_t q[256 + 4];  // the last four bytes have four trits only
        for (int t = 0; t < 5; ++t) {
            const __m512i trits = next_trits(bytes);
            const __m128i last = _mm512_extracti32x4_epi32(trits, 3);
            _mm256_storeu_si256(reinterpret_cast<__m256i*>(q + 32 * t), _mm512_castsi512_si256(trits));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(q + 160 + 16 * t), _mm512_extracti32x4_epi32(trits, 2));
            const int four = _mm_cvtsi128_si32(last);
            std::memcpy(q + 240 + 4 * t, &four, 4);
        }
        Weights256 w{};
        for (int i = 0; i < 4; ++i)
            w.q[i] = _mm512_loadu_si512(q + 64 * i);
        w.scale = _mm256_set1_ps(half_at(&b->scale));
        return w;
    }
};

struct TQ2_0 {
    static constexpr int kBias = 1, kGroups = 8, kBytes = sizeof(BlockTQ2_0);
    static constexpr bool kHalves = false, kOffset = false;
    static Weights256 load(const std::byte* at)
    {
        const auto* b = reinterpret_cast<const BlockTQ2_0*>(at);
        Weights256 w{};
        for (int i = 0; i < 4; ++i)
            w.q[i] = bit_pairs(b->q + 32 * (i / 2), 2 * (i % 2));
        w.scale = _mm256_set1_ps(half_at(&b->scale));
        return w;
    }
};

}  // namespace kernels::avx512
