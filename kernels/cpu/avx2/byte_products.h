// Multiplies unsigned with signed bytes and adds the products up in fours: in three instructions that every processor
// with AVX2 has, or in the single VPDPBUSD where there is one. All sums are exact.
#pragma once

#include <immintrin.h>

namespace kernels::avx2 {

/// Adds products up in pairs of 16 bits first: two products must fit, and those of 255 and 127 do not.
struct PairProducts {
    static constexpr bool kByPairs = true;

    /// 126 * 127 * 2 unsigned and 128 * 127 * 2 signed fit.
    static __m256i add(__m256i sums, __m256i unsigned_bytes, __m256i signed_bytes)
    {
        const __m256i pairs = _mm256_maddubs_epi16(unsigned_bytes, signed_bytes);
        return _mm256_add_epi32(sums, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
    }
};

/// Uses AVX-VNNI's instruction, in assembler, so that nothing else in these files is compiled for such processors only.
struct VnniProducts {
    static constexpr bool kByPairs = false;

    static __m256i add(__m256i sums, __m256i unsigned_bytes, __m256i signed_bytes)
    {
        __asm__("%{vex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(unsigned_bytes), "x"(signed_bytes));
        return sums;
    }
};

/// Uses the same instruction in AVX-512's encoding.
struct Avx512VnniProducts {
    static constexpr bool kByPairs = false;

    static __m256i add(__m256i sums, __m256i unsigned_bytes, __m256i signed_bytes)
    {
        __asm__("%{evex%} vpdpbusd %2, %1, %0" : "+x"(sums) : "x"(unsigned_bytes), "x"(signed_bytes));
        return sums;
    }
};

}  // namespace kernels::avx2
