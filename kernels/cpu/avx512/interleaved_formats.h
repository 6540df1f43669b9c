// Sixteen rows of a packed type side by side: what a lane of a register reads belongs to its row, so that products need
// no sum across lanes. A panel of 16 rows takes as many bytes as the rows did:
//
//   halves  (2, 16)          of each row's block a half (or a byte), where its length is no multiple of 4
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
    template <int Group, int>
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

struct InterleavedQ4_K {
    using Rows = Q4_K;
    static constexpr int kHalfAt = 0, kHalfBytes = 0, kWordsAt = 0, kWords = 36;
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
    static constexpr int kHalfAt = 0, kHalfBytes = 0, kWordsAt = 0, kWords = 44;
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
    static constexpr int kHalfAt = 208, kHalfBytes = 2, kWordsAt = 0, kWords = 52;
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

struct InterleavedIQ4_XS {
    using Rows = IQ4_XS;
    static constexpr int kHalfAt = 0, kHalfBytes = 0, kWordsAt = 0, kWords = 34;
    static constexpr int kChunks = 8, kChunkGroups = 1, kSteps = 8;
    static constexpr int group_of(int chunk, int) { return chunk; }
    static constexpr int part_of(int) { return 0; }
    static constexpr int source(int word) { return word; }

    class Scales
    {
    public:
        explicit Scales(const std::byte* words)
            : first_(words_at(words, 0))
            , low_(words_at(words, 1))
            , scale_(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(first_)))
        {
        }
        template <int Group, int>
        __m512 scale() const
        {
            const __m512i low = _mm512_and_si512(_mm512_srli_epi32(low_, 4 * Group), _mm512_set1_epi32(15));
            const __m512i high = _mm512_and_si512(_mm512_srli_epi32(first_, 16 + 2 * Group), _mm512_set1_epi32(3));
            const __m512i six_bits = _mm512_or_si512(low, _mm512_slli_epi32(high, 4));
            return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(six_bits, _mm512_set1_epi32(32))), scale_);
        }

    private:
        __m512i first_, low_;
        __m512 scale_;
    };
    static Scales scales(const std::byte*, const std::byte* words) { return Scales(words); }

    template <int Chunk>
    static void weights(const std::byte* words, int step, __m512i (&w)[1])
    {
        const __m512i nibbles = words_at(words, 2 + 4 * Chunk + step % 4);
        w[0] = _mm512_shuffle_epi8(table16(kIq4Values, Rows::kBias),
                                   step < 4 ? low_nibbles(nibbles) : high_nibbles(nibbles));
    }
};

// Two bits of four groups share a byte: a chunk is one part of them.
struct FourGroupsOfPairs {
    static constexpr int kChunks = 4, kChunkGroups = 4, kSteps = 4;
    static constexpr int group_of(int chunk, int j) { return chunk / 2 * 4 + j; }
    static constexpr int part_of(int chunk) { return chunk % 2; }
};

struct InterleavedQ2_K : FourGroupsOfPairs {
    using Rows = Q2_K;
    static constexpr int kHalfAt = 0, kHalfBytes = 0, kWordsAt = 0, kWords = 21;
    // The two scales, those of the groups, weights.
    static constexpr int source(int word) { return word == 0 ? 20 : word - 1; }

    class Scales
    {
    public:
        explicit Scales(const std::byte* words)
        {
            const __m512i both = words_at(words, 0);
            scale_ = _mm512_cvtph_ps(_mm512_cvtepi32_epi16(both));
            min_scale_ =
                _mm512_sub_ps(_mm512_setzero_ps(), _mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(both, 16))));
            for (int i = 0; i < 4; ++i)
                packed_[i] = words_at(words, 1 + i);
        }
        template <int Group, int Part>
        __m512 scale() const
        {
            constexpr int i = 2 * Group + Part;
            const __m512i four_bits = _mm512_and_si512(byte_of<i % 4>(packed_[i / 4]), _mm512_set1_epi32(15));
            return _mm512_mul_ps(_mm512_cvtepi32_ps(four_bits), scale_);
        }
        template <int Group, int Part>
        __m512 offset() const
        {
            constexpr int i = 2 * Group + Part;
            const __m512i four_bits = _mm512_srli_epi32(byte_of<i % 4>(packed_[i / 4]), 4);
            return _mm512_mul_ps(_mm512_cvtepi32_ps(four_bits), min_scale_);
        }

    private:
        __m512 scale_, min_scale_;
        __m512i packed_[4];
    };
    static Scales scales(const std::byte*, const std::byte* words) { return Scales(words); }

    template <int Chunk>
    static void weights(const std::byte* words, int step, __m512i (&w)[kChunkGroups])
    {
        const __m512i pairs = words_at(words, 5 + 4 * Chunk + step), two = _mm512_set1_epi8(3);
        w[0] = _mm512_and_si512(pairs, two);
        w[1] = _mm512_and_si512(moved<-2>(pairs), two);
        w[2] = _mm512_and_si512(moved<-4>(pairs), two);
        w[3] = _mm512_and_si512(moved<-6>(pairs), two);
    }
};

struct InterleavedQ3_K : FourGroupsOfPairs {
    using Rows = Q3_K;
    static constexpr int kHalfAt = 108, kHalfBytes = 2, kWordsAt = 0, kWords = 27;
    // Scales; low bits of the first 128 weights, each beside high bits; low bits of the others.
    static constexpr int source(int word)
    {
        if (word < 3)
            return 24 + word;
        return word >= 19 ? word - 3 : (word - 3) % 2 == 0 ? 8 + (word - 3) / 2 : (word - 3) / 2;
    }

    class Scales
    {
    public:
        Scales(const std::byte* halves, const std::byte* words)
            : scale_(halves_at(halves))
            , low_{words_at(words, 0), words_at(words, 1)}
            , high_(words_at(words, 2))
        {
        }
        template <int Group, int Part>
        __m512 scale() const
        {
            constexpr int i = 2 * Group + Part;
            const __m512i nibbles = byte_of<i % 4>(low_[i % 8 / 4]);
            const __m512i low =
                i < 8 ? _mm512_and_si512(nibbles, _mm512_set1_epi32(15)) : _mm512_srli_epi32(nibbles, 4);
            const __m512i high =
                _mm512_and_si512(_mm512_srli_epi32(high_, 8 * (i % 4) + 2 * (i / 4)), _mm512_set1_epi32(3));
            const __m512i six_bits = _mm512_or_si512(low, _mm512_slli_epi32(high, 4));
            return _mm512_mul_ps(_mm512_cvtepi32_ps(_mm512_sub_epi32(six_bits, _mm512_set1_epi32(32))), scale_);
        }

    private:
        __m512 scale_;
        __m512i low_[2], high_;
    };
    static Scales scales(const std::byte* halves, const std::byte* words) { return {halves, words}; }

    template <int Chunk>
    static void weights(const std::byte* words, int step, __m512i (&w)[kChunkGroups])
    {
        constexpr int kHalf = Chunk / 2, kPart = Chunk % 2;
        const int i = 4 * kPart + step;
        const __m512i pairs = words_at(words, kHalf == 0 ? 3 + 2 * i : 19 + i), high = words_at(words, 4 + 2 * i);
        const __m512i two = _mm512_set1_epi8(3), third = _mm512_set1_epi8(4);
        constexpr int kBit = 4 * kHalf;  // of the first group
        w[0] = _mm512_ternarylogic_epi32(moved<2 - kBit>(high), third, _mm512_and_si512(pairs, two), kMaskedOr);
        w[1] =
            _mm512_ternarylogic_epi32(moved<1 - kBit>(high), third, _mm512_and_si512(moved<-2>(pairs), two), kMaskedOr);
        w[2] =
            _mm512_ternarylogic_epi32(moved<0 - kBit>(high), third, _mm512_and_si512(moved<-4>(pairs), two), kMaskedOr);
        w[3] = _mm512_ternarylogic_epi32(moved<-1 - kBit>(high), third, _mm512_and_si512(moved<-6>(pairs), two),
                                         kMaskedOr);
    }
};

// ---- plain blocks: steps 0..3 are low nibbles, 4..7 high ones ----

inline __m512i nibbles_of_step(const std::byte* words, int first, int step)
{
    const __m512i nibbles = words_at(words, first + step % 4);
    return step < 4 ? low_nibbles(nibbles) : high_nibbles(nibbles);
}

// Bits 4 step .. 4 step + 3 of every lane, one in bit 4 of each byte.
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

/// Scale and offset as the two halves of word 0.
struct OneGroupWithOffset : OneGroup {
    static constexpr int kHalfAt = 0, kHalfBytes = 0, kWordsAt = 0;

    class Scales
    {
    public:
        explicit Scales(__m512i both)
            : scale_(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(both)))
            , offset_(_mm512_cvtph_ps(_mm512_cvtepi32_epi16(_mm512_srli_epi32(both, 16))))
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
