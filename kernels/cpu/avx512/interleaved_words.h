// Lays sixteen rows of a packed type side by side: what a lane of a register reads belongs to its row, so that products
// need no sum across lanes. A panel of 16 rows takes as many bytes as the rows did:
//
//   halves  (2, 16)          of each row's block a half (or a byte), where its length is no multiple of 4
//   words   (2, words, 16)   4 bytes of each row
//
// for every two blocks; a last one is alone. The words of a block lie in the order in which they are used, so that
// memory is read as one stream: only then does the processor read ahead by itself.
#pragma once

#include "kernels/blocks.h"
#include "kernels/cpu.h"
#include "kernels/cpu/avx512/formats.h"

namespace kernels::avx512 {

inline __m512i words_at(const std::byte* words, int i)
{
    return _mm512_loadu_si512(words + std::ptrdiff_t(i) * 64);
}

inline __m512 halves_at(const std::byte* halves)
{
    return _mm512_cvtph_ps(load256(halves));
}

/// Returns the lower 16-bit float of every lane; high_half_of() returns the upper one.
inline __m512 low_half_of(__m512i lanes)
{
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(lanes));
}
inline __m512 high_half_of(__m512i lanes)
{
    return _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(lanes, 16)));
}

/// Returns byte `I` of every lane as a number.
template <int I>
inline __m512i byte_of(__m512i lanes)
{
    return _mm512_and_si512(_mm512_srli_epi32(lanes, 8 * I), _mm512_set1_epi32(0xff));
}
template <int I>
inline __m512i signed_byte_of(__m512i lanes)
{
    return _mm512_srai_epi32(_mm512_slli_epi32(lanes, 24 - 8 * I), 24);
}

/// Lanes moved left, or right where `Left` is negative; bits that come from a neighbouring byte must be masked off.
template <int Left>
inline __m512i moved(__m512i lanes)
{
    return Left >= 0 ? _mm512_slli_epi16(lanes, unsigned(Left)) : _mm512_srli_epi16(lanes, unsigned(-Left));
}

constexpr int kMaskedOr = 0xea;  // ternary logic: (first & second) | third

inline __m512i low_nibbles(__m512i bytes)
{
    return _mm512_and_si512(bytes, _mm512_set1_epi8(15));
}
inline __m512i high_nibbles(__m512i bytes)
{
    return _mm512_and_si512(_mm512_srli_epi16(bytes, 4), _mm512_set1_epi8(15));
}

// A format says where in a row's block of the file its half is (kHalfAt) and its words are (kWordsAt), and in which
// order the words lie when rows are interleaved: word source(i) of the file becomes word i. It unpacks a block in
// chunks, and a chunk in steps. A step gives four weights of each row for each of the chunk's groups: w[j] belongs to
// group group_of(chunk, j) and holds its weights from part_of(chunk) * 16 + 4 * step on. A format whose steps share
// work has a struct Prepared<chunk>, which does that work once and then gives w[0] of each step.

}  // namespace kernels::avx512
