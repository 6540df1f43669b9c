// Multiplies rows with a few tokens: weights stay in registers, read once. For decoding, where memory is the limit.
#pragma once

#include "kernels/cpu/avx512/formats.h"
#include "kernels/cpu/avx512/grid_formats.h"
#include "kernels/cpu/avx512/group_sums.h"
#include "kernels/cpu/avx512/ternary_formats.h"
#include "kernels/cpu/token_rows.h"

namespace kernels::avx512 {

// Returns the exact sums of 16 products each: lanes 0..7 first halves of the groups, 8..15 second halves.
inline __m512i half_products(const __m512i (&w)[4], const std::int8_t* x)
{
    __m512i d[4];  // a lane sums four products; 128 bits hold one half of a group
    for (int i = 0; i < 4; ++i)
        d[i] = _mm512_dpbusd_epi32(_mm512_setzero_si512(), w[i], _mm512_loadu_si512(x + 64 * i));
    const __m512i d01 = _mm512_add_epi32(_mm512_unpacklo_epi32(d[0], d[1]), _mm512_unpackhi_epi32(d[0], d[1]));
    const __m512i d23 = _mm512_add_epi32(_mm512_unpacklo_epi32(d[2], d[3]), _mm512_unpackhi_epi32(d[2], d[3]));
    const __m512i sums = _mm512_add_epi32(_mm512_unpacklo_epi64(d01, d23), _mm512_unpackhi_epi64(d01, d23));
    // 128-bit lane L, element i holds half 4 i + L; group 2 i + L / 2.
    return _mm512_permutexvar_epi32(_mm512_setr_epi32(0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15), sums);
}

constexpr int shift_down(int bias)  // shifts are made for a bias of 128
{
    return bias == 128 ? 0 : bias == 64 ? 1 : bias == 32 ? 2 : bias == 16 ? 3 : bias == 8 ? 4 : bias == 4 ? 5 : 7;
}

template <class Format>
inline __m256 add_groups(const Weights256& w, const TokenRow& x, __m256 sums)
{
    const __m512i halves = half_products(w.q, x.q);
    const __m256 scales = _mm256_loadu_ps(x.scale);
    if constexpr (Format::kHalves) {
        __m512i exact = halves;
        if constexpr (Format::kBias != 0) {
            const __m512i shift = _mm512_castps_si512(halves_apart(_mm512_loadu_ps(x.shift)));
            exact = _mm512_add_epi32(exact, _mm512_srai_epi32(shift, shift_down(Format::kBias)));
        }
        const __m512 products = _mm512_cvtepi32_ps(exact);
        const __m512 scale = _mm512_mul_ps(w.scale16, _mm512_broadcast_f32x8(scales));
        sums = _mm256_fmadd_ps(_mm512_castps512_ps256(products), _mm512_castps512_ps256(scale), sums);
        sums = _mm256_fmadd_ps(_mm512_extractf32x8_ps(products, 1), _mm512_extractf32x8_ps(scale, 1), sums);
        if constexpr (Format::kOffset) {
            const __m512 x_sums = halves_apart(_mm512_loadu_ps(x.sum));
            sums = _mm256_fmadd_ps(_mm512_castps512_ps256(w.offset16), _mm512_castps512_ps256(x_sums), sums);
            sums = _mm256_fmadd_ps(_mm512_extractf32x8_ps(w.offset16, 1), _mm512_extractf32x8_ps(x_sums, 1), sums);
        }
    } else {
        __m256i exact = _mm256_add_epi32(_mm512_castsi512_si256(halves), _mm512_extracti32x8_epi32(halves, 1));
        if constexpr (Format::kBias != 0) {
            const __m256i shift = load256(x.shift);
            exact = _mm256_add_epi32(exact, _mm256_srai_epi32(shift, shift_down(Format::kBias)));
        }
        sums = _mm256_fmadd_ps(_mm256_cvtepi32_ps(exact), _mm256_mul_ps(w.scale, scales), sums);
        if constexpr (Format::kOffset)
            sums = _mm256_fmadd_ps(w.offset, _mm256_loadu_ps(x.sum), sums);
    }
    return sums;
}

/// Returns the weights of a row's last groups, padded with blocks of zeros. Only types with blocks of less than 256
/// weights have such a tail.
template <class Format>
inline Weights256 load_tail(const std::byte* at, int groups)
{
    std::byte padded[8 / Format::kGroups * Format::kBytes] = {};
    std::memcpy(padded, at, std::size_t(groups / Format::kGroups) * Format::kBytes);
    return Format::load(padded);
}

constexpr std::ptrdiff_t kPrefetchBytes = 2048;

template <class Format>
constexpr std::ptrdiff_t kBytes256 = 8 / Format::kGroups* Format::kBytes;

/// Computes out[t][r] for all rows and all tokens, which are exactly `Tokens`. Everything is inlined: GCC would call
/// load() where a file has few functions.
template <class Format, int Tokens>
[[gnu::flatten]] void product_by_rows(const MatMul& m)
{
    constexpr int kParts = Format::kHalves ? 2 : 1;
    const int groups = m.n / 32;
    const int chunks = groups / 8;
    const int tail = groups % 8;
    const std::ptrdiff_t stride = std::ptrdiff_t(groups / Format::kGroups) * Format::kBytes;

    TokenRow x[Tokens];
    TokenTail tails[Tokens];
    for (int t = 0; t < Tokens; ++t) {
        x[t] = token_row<Format>(m, t);
        if (tail)
            tails[t].fill(x[t].at(chunks, kParts), kParts, tail);
    }
    for (int r = 0; r < m.rows; ++r) {
        const std::byte* at = m.weights + r * stride;
        __m256 sums[Tokens];
        for (int t = 0; t < Tokens; ++t)
            sums[t] = _mm256_setzero_ps();
        for (std::ptrdiff_t c = 0; c < chunks; ++c, at += kBytes256<Format>) {
            for (std::ptrdiff_t line = 0; line < kBytes256<Format>; line += 64)
                _mm_prefetch(reinterpret_cast<const char*>(at + kPrefetchBytes + line), _MM_HINT_T0);
            const Weights256 w = Format::load(at);
            for (int t = 0; t < Tokens; ++t)
                sums[t] = add_groups<Format>(w, x[t].at(c, kParts), sums[t]);
        }
        if (tail) {
            const Weights256 w = load_tail<Format>(at, tail);
            for (int t = 0; t < Tokens; ++t)
                sums[t] = add_groups<Format>(w, tails[t].row(), sums[t]);
        }
        for (int t = 0; t < Tokens; ++t)
            m.out[std::size_t(t) * m.out_stride + std::size_t(r)] = join_sums(sums[t]);
    }
}

}  // namespace kernels::avx512
