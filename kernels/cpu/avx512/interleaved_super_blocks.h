// Reads sixteen rows side by side of the types with blocks of 256 weights.
#pragma once

#include "kernels/cpu/avx512/interleaved_words.h"

namespace kernels::avx512 {

/// The six-bit scales and mins of Q4_K and Q5_K, as words 0..3 hold them.
class InterleavedKScales
{
public:
    explicit InterleavedKScales(const std::byte* words)
    {
        const __m512i both = words_at(words, 0);
        scale_ = low_half_of(both);
        min_scale_ = _mm512_sub_ps(_mm512_setzero_ps(), high_half_of(both));
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

struct InterleavedQ4_K {
    using Rows = Q4_K;
    static constexpr int kHalfAt = 0, kHalfBytes = 0, kWordsAt = 0, kWords = 36;
    static constexpr int kChunks = 4, kChunkGroups = 2, kSteps = 8;
    static constexpr int group_of(int chunk, int j) { return 2 * chunk + j; }
    static constexpr int source(int word) { return word; }
    static constexpr int part_of(int) { return 0; }
    static InterleavedKScales scales(const std::byte*, const std::byte* words) { return InterleavedKScales(words); }

    // High nibbles stay where they are: moving a sum back takes one instruction where moving weights takes eight.
    static constexpr int left_by(int j) { return 4 * j; }
    template <int Chunk>
    static void weights(const std::byte* words, int step, __m512i (&w)[kChunkGroups])
    {
        const __m512i nibbles = words_at(words, 4 + 8 * Chunk + step);
        w[0] = low_nibbles(nibbles);
        w[1] = _mm512_and_si512(nibbles, _mm512_set1_epi8(char(0xf0)));
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
    // The words of the scales come first. Then three words hold a step of a chunk's four groups. The low six bits of
    // their bytes are weights of the first three groups; above these, each word has two bits of the weights of the
    // fourth group, the lowest in the first word. The file has low nibbles and high pairs of bits apart, and joining
    // them takes more instructions than this.
    static std::uint32_t rearranged(const std::byte* block, int word)
    {
        const auto file = [block](int i) { return word_at<std::uint32_t>(block + 4 * i); };
        if (word < 4)
            return file(48 + word);
        const int chunk = (word - 4) / 12, step = (word - 4) % 12 / 3, j = (word - 4) % 3;
        const int half = chunk / 2, i = 4 * (chunk % 2) + step;
        const std::uint32_t high = file(32 + 8 * half + i);
        const auto weights = [&](int group) {
            const std::uint32_t low = file(16 * half + 8 * (group % 2) + i) >> 4 * (group / 2) & 0x0f0f0f0fu;
            return low | (high >> 2 * group & 0x03030303u) << 4;
        };
        return weights(j) | (weights(3) >> 2 * j & 0x03030303u) << 6;
    }
    static constexpr int left_by(int j) { return j == 3 ? 2 : 0; }
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
        const __m512i six = _mm512_set1_epi8(63);
        const __m512i a = words_at(words, at), b = words_at(words, at + 1), c = words_at(words, at + 2);
        w[0] = _mm512_and_si512(a, six);
        w[1] = _mm512_and_si512(b, six);
        w[2] = _mm512_and_si512(c, six);
        const __m512i low = _mm512_and_si512(moved<-4>(a), _mm512_set1_epi8(0x0c));
        const __m512i lower = _mm512_ternarylogic_epi32(moved<-2>(b), _mm512_set1_epi8(0x30), low, kMaskedOr);
        w[3] = _mm512_ternarylogic_epi32(c, _mm512_set1_epi8(char(0xc0)), lower, kMaskedOr);
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
            , scale_(low_half_of(first_))
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

// A byte has two bits of each of four groups: a chunk is one part of these groups.
struct FourGroupsOfPairs {
    static constexpr int kChunks = 4, kChunkGroups = 4, kSteps = 4;
    static constexpr int group_of(int chunk, int j) { return chunk / 2 * 4 + j; }
    static constexpr int part_of(int chunk) { return chunk % 2; }
};

struct InterleavedQ2_K : FourGroupsOfPairs {
    using Rows = Q2_K;
    static constexpr int kHalfAt = 0, kHalfBytes = 0, kWordsAt = 0, kWords = 21;
    // The words' order: the block's two scales, the groups' scales, weights.
    static constexpr int source(int word) { return word == 0 ? 20 : word - 1; }

    class Scales
    {
    public:
        explicit Scales(const std::byte* words)
        {
            const __m512i both = words_at(words, 0);
            scale_ = low_half_of(both);
            min_scale_ = _mm512_sub_ps(_mm512_setzero_ps(), high_half_of(both));
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
    // The words' order: scales; low bits of the first 128 weights, each word followed by one of high bits; low bits of
    // the other weights.
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

}  // namespace kernels::avx512
