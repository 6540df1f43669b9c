// Reads sixteen rows side by side of the types with blocks of 32 weights: steps 0..3 are the low nibbles, 4..7 the high
// ones.
#pragma once

#include "kernels/cpu/avx512/interleaved_words.h"

namespace kernels::avx512 {

/// The scales of plain blocks, which are just the block's half.
class InterleavedHalves
{
public:
    explicit InterleavedHalves(const std::byte* halves)
        : InterleavedHalves(halves_at(halves))
    {
    }
    explicit InterleavedHalves(__m512 scale)
        : scale_(scale)
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

inline __m512i nibbles_of_step(const std::byte* words, int first, int step)
{
    const __m512i nibbles = words_at(words, first + step % 4);
    return step < 4 ? low_nibbles(nibbles) : high_nibbles(nibbles);
}

// Returns bits 4 step .. 4 step + 3 of every lane, one in bit 4 of each byte.
inline __m512i fifth_bits_of_step(__m512i lanes, int step)
{
    const __m512i four = _mm512_and_si512(_mm512_srlv_epi32(lanes, _mm512_set1_epi32(4 * step)), _mm512_set1_epi32(15));
    const __m512i apart = _mm512_mullo_epi32(four, _mm512_set1_epi32(0x00204081));  // 7 bits from one to the next
    return _mm512_and_si512(_mm512_slli_epi32(apart, 4), _mm512_set1_epi32(0x10101010));
}

struct OneGroup {
    static constexpr int kChunks = 1, kChunkGroups = 1, kSteps = 8;
    static constexpr int group_of(int, int) { return 0; }
    static constexpr int part_of(int) { return 0; }
    static constexpr int source(int word) { return word; }
};

/// Blocks that begin with their scale.
struct OneGroupAfterItsScale : OneGroup {
    static constexpr int kHalfAt = 0, kHalfBytes = 2, kWordsAt = 2;
    static InterleavedHalves scales(const std::byte* halves, const std::byte*) { return InterleavedHalves(halves); }
};

struct InterleavedQ4_0 : OneGroupAfterItsScale {
    using Rows = Q4_0;
    static constexpr int kWords = 4;
    template <int>
    static void weights(const std::byte* words, int step, __m512i (&w)[1])
    {
        w[0] = nibbles_of_step(words, 0, step);
    }
};

struct InterleavedQ5_0 : OneGroupAfterItsScale {
    using Rows = Q5_0;
    static constexpr int kWords = 5;
    template <int>
    static void weights(const std::byte* words, int step, __m512i (&w)[1])
    {
        w[0] = _mm512_or_si512(nibbles_of_step(words, 1, step), fifth_bits_of_step(words_at(words, 0), step));
    }
};

struct InterleavedIQ4_NL : OneGroupAfterItsScale {
    using Rows = IQ4_NL;
    static constexpr int kWords = 4;
    template <int>
    static void weights(const std::byte* words, int step, __m512i (&w)[1])
    {
        w[0] = _mm512_shuffle_epi8(table16(kIq4Values, Rows::kBias), nibbles_of_step(words, 0, step));
    }
};

struct InterleavedQ8_0 : OneGroupAfterItsScale {
    using Rows = Q8_0;
    static constexpr int kWords = 8;
    template <int>
    static void weights(const std::byte* words, int step, __m512i (&w)[1])
    {
        w[0] = _mm512_xor_si512(words_at(words, step), _mm512_set1_epi8(char(0x80)));
    }
};

struct InterleavedMXFP4 : OneGroup {
    using Rows = MXFP4;
    static constexpr int kHalfAt = 0, kHalfBytes = 1, kWordsAt = 1, kWords = 4;

    static InterleavedHalves scales(const std::byte* exponent_bytes, const std::byte*)
    {
        const __m512i exponents = _mm512_cvtepu8_epi32(load128(exponent_bytes)), one = _mm512_set1_epi32(1);
        const __m512i normal = _mm512_slli_epi32(_mm512_sub_epi32(exponents, one), 23);
        const __m512i subnormal = _mm512_sllv_epi32(_mm512_set1_epi32(0x00200000), exponents);
        const __mmask16 tiny = _mm512_cmple_epu32_mask(exponents, one);
        return InterleavedHalves(_mm512_castsi512_ps(_mm512_mask_mov_epi32(normal, tiny, subnormal)));
    }
    template <int>
    static void weights(const std::byte* words, int step, __m512i (&w)[1])
    {
        w[0] = _mm512_shuffle_epi8(table16(kMxfp4Values, Rows::kBias), nibbles_of_step(words, 0, step));
    }
};

/// Two groups of 32, each of two parts.
struct InterleavedNVFP4 {
    using Rows = NVFP4;
    static constexpr int kHalfAt = 0, kHalfBytes = 0, kWordsAt = 0, kWords = 9;
    static constexpr int kChunks = 4, kChunkGroups = 1, kSteps = 4;
    static constexpr int group_of(int chunk, int) { return chunk / 2; }
    static constexpr int part_of(int chunk) { return chunk % 2; }
    static constexpr int source(int word) { return word; }

    class Scales
    {
    public:
        explicit Scales(__m512i codes)
            : codes_(codes)
        {
        }
        template <int Group, int Part>
        __m512 scale() const
        {
            return nvfp4_scales(byte_of<2 * Group + Part>(codes_));
        }

    private:
        __m512i codes_;
    };
    static Scales scales(const std::byte*, const std::byte* words) { return Scales(words_at(words, 0)); }

    template <int Chunk>
    static void weights(const std::byte* words, int step, __m512i (&w)[1])
    {
        const __m512i nibbles = words_at(words, 1 + 2 * Chunk + step % 2);
        w[0] = _mm512_shuffle_epi8(table16(kMxfp4Values, Rows::kBias),
                                   step < 2 ? low_nibbles(nibbles) : high_nibbles(nibbles));
    }
};

/// Scale and offset as the two halves of word 0.
struct OneGroupWithOffset : OneGroup {
    static constexpr int kHalfAt = 0, kHalfBytes = 0, kWordsAt = 0;

    class Scales
    {
    public:
        explicit Scales(__m512i both)
            : scale_(low_half_of(both))
            , offset_(high_half_of(both))
        {
        }
        template <int, int>
        __m512 scale() const
        {
            return scale_;
        }
        template <int, int>
        __m512 offset() const
        {
            return offset_;
        }

    private:
        __m512 scale_, offset_;
    };
    static Scales scales(const std::byte*, const std::byte* words) { return Scales(words_at(words, 0)); }
};

struct InterleavedQ4_1 : OneGroupWithOffset {
    using Rows = Q4_1;
    static constexpr int kWords = 5;
    template <int>
    static void weights(const std::byte* words, int step, __m512i (&w)[1])
    {
        w[0] = nibbles_of_step(words, 1, step);
    }
};

struct InterleavedQ5_1 : OneGroupWithOffset {
    using Rows = Q5_1;
    static constexpr int kWords = 6;
    template <int>
    static void weights(const std::byte* words, int step, __m512i (&w)[1])
    {
        w[0] = _mm512_or_si512(nibbles_of_step(words, 2, step), fifth_bits_of_step(words_at(words, 1), step));
    }
};

}  // namespace kernels::avx512
