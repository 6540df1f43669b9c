// Sets the order in which products are summed, the same for a single token and for many.
//
// Groups of 32 weights are added to eight running sums in turn: group b to sum b % 8. A group adds, by fused
// multiply-adds and in this order, its exact integer products times (weight scale * activation scale), first half
// before second where a scale covers 16; then its offset times the activations' sum. At the end the eight sums are
// added as ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)).
#pragma once

#include <immintrin.h>

namespace kernels::avx512 {

constexpr int kSums = 8;

inline float join_sums(__m256 sums)
{
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(sums), _mm256_extractf128_ps(sums, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

inline __m512 join_sums(const __m512 (&s)[kSums])
{
    const __m512 even = _mm512_add_ps(_mm512_add_ps(s[0], s[4]), _mm512_add_ps(s[2], s[6]));
    const __m512 odd = _mm512_add_ps(_mm512_add_ps(s[1], s[5]), _mm512_add_ps(s[3], s[7]));
    return _mm512_add_ps(even, odd);
}

}  // namespace kernels::avx512
