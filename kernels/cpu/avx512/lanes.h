// Works on sixteen floats at a time: loads with tails, sums in a fixed order, the exponential.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

namespace kernels::avx512 {

constexpr int kLanes = 16;

/// Returns a mask of lanes 0 .. count - 1; all of them for count >= 16, none for count <= 0.
inline __mmask16 first_lanes(int count)
{
    return count >= kLanes ? __mmask16(0xffff) : count <= 0 ? __mmask16(0) : __mmask16((1u << count) - 1u);
}

/// Calls body(i, lanes) for i = 0, 16, ... below n with the lanes that exist.
template <class Body>
inline void for_lanes(int n, Body body)
{
    int i = 0;
    for (; i + kLanes <= n; i += kLanes)
        body(i, __mmask16(0xffff));
    if (i < n)
        body(i, first_lanes(n - i));
}

struct FourBytes {
    std::int8_t byte[4];
};

/// Returns sums + the products of unsigned and signed bytes, four to a lane (VPDPBUSD). It is written in assembler,
/// since GCC 12 copies the sums before and after its intrinsic, and keeps some of them in memory.
inline __m512i add_byte_products(__m512i sums, __m512i unsigned_bytes, __m512i signed_bytes)
{
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sums) : "v"(unsigned_bytes), "v"(signed_bytes));
    return sums;
}

/// Does the same with four bytes that every lane takes.
inline __m512i add_byte_products(__m512i sums, __m512i unsigned_bytes, const std::int8_t* four)
{
    __asm__("vpdpbusd %2%{1to16%}, %1, %0"
            : "+v"(sums)
            : "v"(unsigned_bytes), "m"(*reinterpret_cast<const FourBytes*>(four)));
    return sums;
}

/// Prefetches bytes that are read later into the second cache, since what is read now fills the first. Addresses beyond
/// the end of memory do no harm. Always inlined, like read_soon(): GCC leaves out calls of functions that only
/// prefetch.
[[gnu::always_inline]] inline void read_ahead(const std::byte* at, std::ptrdiff_t bytes)
{
    for (std::ptrdiff_t line = 0; line < bytes; line += 64)
        _mm_prefetch(reinterpret_cast<const char*>(at + line), _MM_HINT_T1);
}

/// Prefetches bytes into the first cache, which has room where sums lie in registers.
[[gnu::always_inline]] inline void read_soon(const std::byte* at, std::ptrdiff_t bytes)
{
    for (std::ptrdiff_t line = 0; line < bytes; line += 64)
        _mm_prefetch(reinterpret_cast<const char*>(at + line), _MM_HINT_T0);
}

inline float sum_of(__m512 x)
{
    const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(x), _mm512_extractf32x8_ps(x, 1));
    const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
    const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
    return _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
}

/// e^x to about 1e-7 of its value; 0 for -inf and below -104, inf above 89, NaN for NaN.
inline __m512 exp_of(__m512 x)
{
    // The bounds come first, so that a NaN in x passes through.
    const __m512 bounded = _mm512_min_ps(_mm512_set1_ps(90.0f), _mm512_max_ps(_mm512_set1_ps(-110.0f), x));
    const __m512 n = _mm512_roundscale_ps(_mm512_mul_ps(bounded, _mm512_set1_ps(1.44269504f)),
                                          _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    // r = x - n ln 2, |r| <= 0.35; ln 2 in two parts, the first exact in few bits
    const __m512 high = _mm512_fnmadd_ps(n, _mm512_set1_ps(0.693359375f), bounded);
    const __m512 r = _mm512_fnmadd_ps(n, _mm512_set1_ps(-2.12194440e-4f), high);
    __m512 p = _mm512_set1_ps(1.0f / 5040);  // Taylor's series; the next term is below 6e-9
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 720));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 120));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 24));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f / 6));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(0.5f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    p = _mm512_fmadd_ps(p, r, _mm512_set1_ps(1.0f));
    return _mm512_scalef_ps(p, n);
}

inline float exp_of(float x)
{
    return _mm512_cvtss_f32(exp_of(_mm512_set1_ps(x)));
}

/// x * sigmoid(y)
inline __m512 times_sigmoid(__m512 x, __m512 y)
{
    const __m512 one = _mm512_set1_ps(1.0f);
    return _mm512_div_ps(x, _mm512_add_ps(one, exp_of(_mm512_sub_ps(_mm512_setzero_ps(), y))));
}

}  // namespace kernels::avx512
