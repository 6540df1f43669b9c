// Works on eight floats at a time: loads with tails, sums in a fixed order, the exponential.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace kernels::avx2 {

constexpr int kLanes = 8;

/// Returns lanes 0 .. count - 1 as a mask for loads and stores; all of them for count >= 8, none for count <= 0.
inline __m256i first_lanes(int count)
{
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(count), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

inline __m256 load(const float* at, __m256i lanes)
{
    return _mm256_maskload_ps(at, lanes);
}

/// Calls body(i, lanes) for i = 0, 8, ... below n with the lanes that exist.
template <class Body>
inline void for_lanes(int n, Body body)
{
    int i = 0;
    for (; i + kLanes <= n; i += kLanes)
        body(i, _mm256_set1_epi32(-1));
    if (i < n)
        body(i, first_lanes(n - i));
}

/// Adds the lanes up as ((0 + 4) + (2 + 6)) + ((1 + 5) + (3 + 7)).
inline float sum_of(__m256 x)
{
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

inline float max_of(__m256 x)
{
    const __m128 four = _mm_max_ps(_mm256_castps256_ps128(x), _mm256_extractf128_ps(x, 1));
    const __m128 two = _mm_max_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_max_ss(two, _mm_movehdup_ps(two)));
}

inline __m256 abs_of(__m256 x)
{
    return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), x);
}

inline __m256 power_of_two(__m256i exponent)  // -126 .. 127
{
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_add_epi32(exponent, _mm256_set1_epi32(127)), 23));
}

/// e^x to about 1e-7 of its value; 0 for -inf and below -104, inf above 89, NaN for NaN.
inline __m256 exp_of(__m256 x)
{
    // The bounds come first, so that a NaN in x passes through.
    const __m256 bounded = _mm256_min_ps(_mm256_set1_ps(90.0f), _mm256_max_ps(_mm256_set1_ps(-110.0f), x));
    const __m256 n = _mm256_round_ps(_mm256_mul_ps(bounded, _mm256_set1_ps(1.44269504f)),
                                     _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    // r = x - n ln 2, |r| <= 0.35; ln 2 in two parts, the first exact in few bits
    const __m256 high = _mm256_fnmadd_ps(n, _mm256_set1_ps(0.693359375f), bounded);
    const __m256 r = _mm256_fnmadd_ps(n, _mm256_set1_ps(-2.12194440e-4f), high);
    __m256 p = _mm256_set1_ps(1.0f / 5040);  // Taylor's series; the next term is below 6e-9
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 720));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 120));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 24));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f / 6));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(0.5f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    p = _mm256_fmadd_ps(p, r, _mm256_set1_ps(1.0f));
    // In two steps, since 2^n alone may be out of range where the product is not.
    const __m256i whole = _mm256_cvtps_epi32(n);
    const __m256i half = _mm256_srai_epi32(whole, 1);
    return _mm256_mul_ps(_mm256_mul_ps(p, power_of_two(half)), power_of_two(_mm256_sub_epi32(whole, half)));
}

inline float exp_of(float x)
{
    return _mm256_cvtss_f32(exp_of(_mm256_set1_ps(x)));
}

/// x * sigmoid(y)
inline __m256 times_sigmoid(__m256 x, __m256 y)
{
    const __m256 one = _mm256_set1_ps(1.0f);
    return _mm256_div_ps(x, _mm256_add_ps(one, exp_of(_mm256_sub_ps(_mm256_setzero_ps(), y))));
}

}  // namespace kernels::avx2
