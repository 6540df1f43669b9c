// Sixteen rows of a packed type side by side: what a lane of a register reads belongs to its row, so that products need
// no sum across lanes. A panel of 16 rows takes as many bytes as the rows did:
//
//   halves  (2, 16)          the scale of each row's block, for types whose blocks are no whole number of words
//   words   (2, words, 16)   4 bytes of each row
//
// for every two blocks; a last one is alone. The words of a block lie in the order in which they are used: what streams
// from memory must be one stream, or the processor does not see it coming.
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

/// Byte `i` of every lane as a number.
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

// A format says: where in a row's block its half is, and its words, as the file has them (word source(i) of the file's
// becomes word i); and, for a chunk of a block, the steps in which four weights of each row come at once, for each of
// the chunk's groups: w[j] belongs to group group_of(chunk, j), weights part_of(chunk) * 16 + 4 * step and on.

/// The six-bit scales and mins of Q4_K and Q5_K, as words 0..3 hold them.
class InterleavedKScales
{
public:
    explicit InterleavedKScales(const std::byte* words)
    {
        const __m512i both = words_at(words, 0);
        scale_ = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(both));
        min_scale_ =
            _mm512_sub_ps(_mm512_setzero_ps(), _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(both, 16))));
        const __m512i a = words_at(words, 1), b = words_at(words, 2), c = words_at(words, 3);
        const __m512i six = _mm512_set1_epi32(0x3f3f3f3f), four = _mm512_set1_epi32(0x0f0f0f0f);
        const __m512i two = _mm512_set1_epi32(0x30303030);
        scales_[0] = _mm512_and_si512(a, six);
        mins_[0] = _mm512_and_si512(b, six);
        scales_[1] = _mm512_or_si512(_mm512_and_si512(c, four), _mm512_and_si512(_mm512_srli_epi32(a, 2), two));
        mins_[1] = _mm512_or_si512(_mm512_and_si512(_mm512_srli_epi32(c, 4), four),
                                   _mm512_and_si512(_mm512_srli_epi32(b, 2), two));
    }

    template <int Group, int>
    __m512 scale() const
    {
        return _mm512_mul_ps(_mm512_cvtepi32_ps(byte_of<Group % 4>(scales_[Group / 4])), scale_);
    }
    template <int Group>
    __m512 offset() const
    {
        return _mm512_mul_ps(_mm512_cvtepi32_ps(byte_of<Group % 4>(mins_[Group / 4])), min_scale_);
    }

private:
    __m512 scale_, min_scale_;
    __m512i scales_[2], mins_[2];
};

/// Plain blocks: the half alone.
class InterleavedHalves
{
public:
    explicit InterleavedHalves(const std::byte* halves)
        : scale_(halves_at(halves))
    {
    }
    template <int, int>
    __m512 scale() const
    {
        return scale_;
    }

private:
    __m512 scale_;
};

struct InterleavedQ4_K {
    using Rows = Q4_K;
    static constexpr int kHalfAt = -1, kWordsAt = 0, kWords = 36;
    static constexpr int kChunks = 4, kChunkGroups = 2, kSteps = 8;
    static constexpr int group_of(int chunk, int j) { return 2 * chunk + j; }
    static constexpr int source(int word) { return word; }
    static constexpr int part_of(int) { return 0; }
    static InterleavedKScales scales(const std::byte*, const std::byte* words) { return InterleavedKScales(words); }

    template <int Chunk>
    static void weights(const std::byte* words, int step, __m512i (&w)[kChunkGroups])
    {
        const __m512i nibbles = words_at(words, 4 + 8 * Chunk + step);
        w[0] = low_nibbles(nibbles);
        w[1] = high_nibbles(nibbles);
    }
};

struct InterleavedQ5_K {
    using Rows = Q5_K;
    static constexpr int kHalfAt = -1, kWordsAt = 0, kWords = 44;
    static constexpr int kChunks = 4, kChunkGroups = 2, kSteps = 8;
    static constexpr int group_of(int chunk, int j) { return 2 * chunk + j; }
    static constexpr int source(int word)
    {
        return word < 4 || word >= 20 ? word : word % 2 == 0 ? 4 + (word - 4) / 2 : 12 + (word - 4) / 2;
    }
    static constexpr int part_of(int) { return 0; }
    static InterleavedKScales scales(const std::byte*, const std::byte* words) { return InterleavedKScales(words); }

    template <int Chunk>
    static void weights(const std::byte* words, int step, __m512i (&w)[kChunkGroups])
    {
        const __m512i high = words_at(words, 4 + 2 * step);
        const __m512i nibbles = words_at(words, Chunk == 0 ? 5 + 2 * step : 12 + 8 * Chunk + step);
        const __m512i fifth = _mm512_set1_epi8(16);
        w[0] = _mm512_ternarylogic_epi32(moved<4 - 2 * Chunk>(high), fifth, low_nibbles(nibbles), kMaskedOr);
        w[1] = _mm512_ternarylogic_epi32(moved<3 - 2 * Chunk>(high), fifth, high_nibbles(nibbles), kMaskedOr);
    }
};

struct InterleavedQ6_K {
    using Rows = Q6_K;
    static constexpr int kHalfAt = 208, kWordsAt = 0, kWords = 52;
    static constexpr int kChunks = 4, kChunkGroups = 4, kSteps = 4;  // a chunk: one part of the groups of 128 weights
    static constexpr int group_of(int chunk, int j) { return chunk / 2 * 4 + j; }
    // Scales; then, for each chunk and step, low bits of the first and of the second half of 64, and high bits.
    static constexpr int source(int word)
    {
        if (word < 4)
            return 48 + word;
        const int chunk = (word - 4) / 12, step = (word - 4) % 12 / 3, kind = (word - 4) % 3;
        const int i = 4 * (chunk % 2) + step;
        return kind == 2 ? 32 + 8 * (chunk / 2) + i : 16 * (chunk / 2) + 8 * kind + i;
    }
    static constexpr int part_of(int chunk) { return chunk % 2; }

    class Scales
    {
    public:
        Scales(const std::byte* halves, const std::byte* words)
            : scale_(halves_at(halves))
        {
            for (int i = 0; i < 4; ++i)
                scales_[i] = words_at(words, i);
        }
        template <int Group, int Part>
        __m512 scale() const
        {
            constexpr int i = 2 * Group + Part;
            return _mm512_mul_ps(_mm512_cvtepi32_ps(signed_byte_of<i % 4>(scales_[i / 4])), scale_);
        }

    private:
        __m512 scale_;
        __m512i scales_[4];
    };
    static Scales scales(const std::byte* halves, const std::byte* words) { return {halves, words}; }

    template <int Chunk>
    static void weights(const std::byte* words, int step, __m512i (&w)[kChunkGroups])
    {
        const int at = 4 + 12 * Chunk + 3 * step;
        const __m512i first = words_at(words, at), second = words_at(words, at + 1), high = words_at(words, at + 2);
        const __m512i two = _mm512_set1_epi8(0x30);
        w[0] = _mm512_ternarylogic_epi32(moved<4>(high), two, low_nibbles(first), kMaskedOr);
        w[1] = _mm512_ternarylogic_epi32(moved<2>(high), two, low_nibbles(second), kMaskedOr);
        w[2] = _mm512_ternarylogic_epi32(high, two, high_nibbles(first), kMaskedOr);
        w[3] = _mm512_ternarylogic_epi32(moved<-2>(high), two, high_nibbles(second), kMaskedOr);
    }
};

struct InterleavedQ4_0 {
    using Rows = Q4_0;
    static constexpr int kHalfAt = 0, kWordsAt = 2, kWords = 4;
    static constexpr int kChunks = 1, kChunkGroups = 1, kSteps = 8;
    static constexpr int group_of(int, int) { return 0; }
    static constexpr int source(int word) { return word; }
    static constexpr int part_of(int) { return 0; }
    static InterleavedHalves scales(const std::byte* halves, const std::byte*) { return InterleavedHalves(halves); }

    template <int>
    static void weights(const std::byte* words, int step, __m512i (&w)[kChunkGroups])
    {
        const __m512i nibbles = words_at(words, step % 4);
        w[0] = step < 4 ? low_nibbles(nibbles) : high_nibbles(nibbles);
    }
};

struct InterleavedQ8_0 {
    using Rows = Q8_0;
    static constexpr int kHalfAt = 0, kWordsAt = 2, kWords = 8;
    static constexpr int kChunks = 1, kChunkGroups = 1, kSteps = 8;
    static constexpr int group_of(int, int) { return 0; }
    static constexpr int source(int word) { return word; }
    static constexpr int part_of(int) { return 0; }
    static InterleavedHalves scales(const std::byte* halves, const std::byte*) { return InterleavedHalves(halves); }

    template <int>
    static void weights(const std::byte* words, int step, __m512i (&w)[kChunkGroups])
    {
        w[0] = _mm512_xor_si512(words_at(words, step), _mm512_set1_epi8(char(0x80)));
    }
};

}  // namespace kernels::avx512
