// Reads sixteen rows side by side of the types whose weights are points of a grid, IQ1, IQ2 and IQ3. A point has 16
// bits here, so that 32 of them, two of each row, are looked up by permutations.
#pragma once

#include "kernels/cpu/avx512/grid_formats.h"
#include "kernels/cpu/avx512/interleaved_panel.h"
#include "kernels/cpu/avx512/interleaved_words.h"

namespace kernels::avx512 {

template <class Word, int Count>
struct PointTable {
    alignas(64) Word of[Count];
};

// Arranges a point's eight numbers of two bits so that two bytes, each used twice, give four weights at a time: weights
// 0..3 have their numbers at bits 0 and 2 of the two bytes, weights 4..7 at bits 4 and 6.
template <int Count>
constexpr PointTable<std::uint16_t, Count> pair_table(const std::uint16_t (&points)[Count])
{
    constexpr int kBit[8] = {0, 2, 8, 10, 4, 6, 12, 14};
    PointTable<std::uint16_t, Count> table{};
    for (int p = 0; p < Count; ++p)
        for (int i = 0; i < 8; ++i)
            table.of[p] |= std::uint16_t((points[p] >> (2 * i) & 3) << kBit[i]);
    return table;
}

// Arranges four numbers of three bits: weights 0 and 1 in the low nibbles of two bytes, 2 and 3 in the high ones.
constexpr std::uint16_t nibble_point(int w0, int w1, int w2, int w3)
{
    return std::uint16_t(w0 | w2 << 4 | w1 << 8 | w3 << 12);
}

constexpr PointTable<std::uint16_t, 256> iq3_xxs_table()
{
    PointTable<std::uint16_t, 256> table{};
    for (int p = 0; p < 256; ++p) {
        const auto number = [p](int i) { return kIq3xxsGrid[p] >> (4 * i) & 7; };
        table.of[p] = nibble_point(number(0), number(1), number(2), number(3));
    }
    return table;
}

constexpr PointTable<std::uint16_t, 512> iq3_s_table()
{
    PointTable<std::uint16_t, 512> table{};
    for (int p = 0; p < 512; ++p) {
        const auto number = [p](int i) { return int(kIq3sGrid[p] >> (8 * i + 1) & 7); };  // of 1, 3 .. 15
        table.of[p] = nibble_point(number(0), number(1), number(2), number(3));
    }
    return table;
}

// Byte i of a point has weight i in the low nibble, and weight i + 4 in the high one.
constexpr PointTable<std::uint32_t, 2048> iq1_table()
{
    PointTable<std::uint32_t, 2048> table{};
    for (int p = 0; p < 2048; ++p)
        for (int i = 0; i < 8; ++i)
            table.of[p] |= std::uint32_t(kIq1Grid[p] >> (2 * i) & 3) << (8 * (i % 4) + 4 * (i / 4));
    return table;
}

inline constexpr auto kIq2xxsTable = pair_table(kIq2xxsGrid);
inline constexpr auto kIq2xsTable = pair_table(kIq2xsGrid);
inline constexpr auto kIq2sTable = pair_table(kIq2sGrid);
inline constexpr auto kIq3xxsTable = iq3_xxs_table();
inline constexpr auto kIq3sTable = iq3_s_table();
inline constexpr auto kIq1Table = iq1_table();

/// Returns the points whose indexes 32 lanes of 16 bits hold; bits above those of the index may be anything.
template <int Count>
[[gnu::always_inline]] inline __m512i look_up(const std::uint16_t* table, __m512i index)
{
    if constexpr (Count == 64) {
        return _mm512_permutex2var_epi16(_mm512_load_si512(table), index, _mm512_load_si512(table + 32));
    } else {
        constexpr int kHalf = Count / 2;
        const __mmask32 upper = _mm512_test_epi16_mask(index, _mm512_set1_epi16(kHalf));
        return _mm512_mask_blend_epi16(upper, look_up<kHalf>(table, index), look_up<kHalf>(table + kHalf, index));
    }
}
template <int Count>
[[gnu::always_inline]] inline __m512i look_up(const PointTable<std::uint16_t, Count>& table, __m512i index)
{
    return look_up<Count>(table.of, index);
}

/// Puts into every lane bytes A, B, C and D of the same lane; 4 and above stand for zero.
template <int A, int B, int C, int D>
inline __m512i bytes_of_lanes(__m512i lanes)
{
    constexpr auto index = [](int byte, int lane) { return (byte < 4 ? 4 * lane + byte : 0x80) & 0xff; };
    constexpr auto word = [index](int lane) {
        return int(unsigned(index(A, lane)) | unsigned(index(B, lane)) << 8 | unsigned(index(C, lane)) << 16 |
                   unsigned(index(D, lane)) << 24);
    };
    return _mm512_shuffle_epi8(lanes, _mm512_broadcast_i32x4(_mm_setr_epi32(word(0), word(1), word(2), word(3))));
}
constexpr int kZero = 4;

/// Returns the even bytes of each lane as lanes of 16 bits; odd_bytes() returns the odd ones.
inline __m512i even_bytes(__m512i lanes)
{
    return _mm512_and_si512(lanes, _mm512_set1_epi16(0xff));
}
inline __m512i odd_bytes(__m512i lanes)
{
    return _mm512_srli_epi16(lanes, 8);
}

/// Returns shift counts for the lower and the upper half of every lane.
inline __m512i counts_of_halves(int lower, int upper)
{
    return _mm512_set1_epi32(lower | upper << 16);
}

/// Returns the table of magnitudes plus a bias of 64, for numbers of two bits that stand at bit 0 or at bit 2.
inline __m512i iq2_magnitudes()
{
    constexpr auto kAbove = [](int i) { return char(64 + kIq2Levels[i]); };
    return _mm512_broadcast_i32x4(
        _mm_setr_epi8(kAbove(0), kAbove(1), kAbove(2), 0, kAbove(1), 0, 0, 0, kAbove(2), 0, 0, 0, 0, 0, 0, 0));
}

/// Negates (mirrors at the bias) those of a lane's four weights whose bits among First .. First + 3 of byte `Byte` of
/// the lane's signs are set.
template <int Bias, int Byte, int First>
inline __m512i mirrored(__m512i weights, __m512i signs)
{
    const __m512i each = bytes_of_lanes<Byte, Byte, Byte, Byte>(signs);
    const __mmask64 negative = _mm512_test_epi8_mask(each, _mm512_set1_epi32(int(0x08040201u << First)));
    return _mm512_mask_sub_epi8(weights, negative, _mm512_set1_epi8(char(2 * Bias)), weights);
}

/// Two points of eight weights of IQ2 in each lane, with a byte of signs for each.
struct TwoIq2Points {
    __m512i points, signs;

    /// Returns weights 4 * Half .. 4 * Half + 3 of the point in half `Point` of the lanes.
    template <int Point, int Half, int SignByte>
    __m512i four() const
    {
        const __m512i bytes = bytes_of_lanes<2 * Point, 2 * Point, 2 * Point + 1, 2 * Point + 1>(points);
        const __m512i numbers =
            _mm512_and_si512(Half == 0 ? bytes : _mm512_srli_epi16(bytes, 4), _mm512_set1_epi16(0x0c03));
        return mirrored<64, SignByte, 4 * Half>(_mm512_shuffle_epi8(iq2_magnitudes(), numbers), signs);
    }
};

/// Returns scale * (2 s + 1) for the s of all rows.
inline __m512 odd_scales(__m512i s, __m512 scale)
{
    const __m512i odd = _mm512_add_epi32(_mm512_add_epi32(s, s), _mm512_set1_epi32(1));
    return _mm512_mul_ps(_mm512_cvtepi32_ps(odd), scale);
}

inline __m512 eighths_of_halves(const std::byte* halves)
{
    return _mm512_mul_ps(halves_at(halves), _mm512_set1_ps(0.125f));
}

struct WholeGroups {
    static constexpr int kChunks = 8, kChunkGroups = 1, kSteps = 8;
    static constexpr int group_of(int chunk, int) { return chunk; }
    static constexpr int part_of(int) { return 0; }
};
struct HalfGroups {
    static constexpr int kChunks = 16, kChunkGroups = 1, kSteps = 4;
    static constexpr int group_of(int chunk, int) { return chunk / 2; }
    static constexpr int part_of(int chunk) { return chunk % 2; }
};

/// Scales that are the top nibbles of words `kFirst`, `kFirst + kEvery` and so on.
template <int kFirst, int kEvery>
class ScalesAboveSigns
{
public:
    ScalesAboveSigns(__m512 scale, const std::byte* words)
        : scale_(scale)
        , words_(words)
    {
    }
    template <int Group, int>
    __m512 scale() const
    {
        return odd_scales(_mm512_srli_epi32(words_at(words_, kFirst + kEvery * Group), 28), scale_);
    }

private:
    __m512 scale_;
    const std::byte* words_;
};

/// Scales that are the nibbles of words 0 and 1.
class NibbleScales
{
public:
    NibbleScales(__m512 scale, const std::byte* words)
        : scale_(scale)
        , nibbles_{words_at(words, 0), words_at(words, 1)}
    {
    }
    template <int Group, int Part>
    __m512 scale() const
    {
        const __m512i s = _mm512_srli_epi32(nibbles_[Group / 4], 8 * (Group % 4) + 4 * Part);
        return odd_scales(_mm512_and_si512(s, _mm512_set1_epi32(15)), scale_);
    }

private:
    __m512 scale_;
    __m512i nibbles_[2];
};

struct InterleavedIQ2_XXS : WholeGroups {
    using Rows = IQ2_XXS;
    static constexpr int kHalfAt = 0, kHalfBytes = 2, kWordsAt = 2, kWords = 16;
    static constexpr int source(int word) { return word; }
    static ScalesAboveSigns<1, 2> scales(const std::byte* halves, const std::byte* words)
    {
        return {eighths_of_halves(halves), words};
    }

    template <int Chunk>
    struct Prepared {
        TwoIq2Points even, odd;
        explicit Prepared(const std::byte* words)
        {
            const __m512i index = words_at(words, 2 * Chunk);
            even.signs = odd.signs = four_signs(words_at(words, 2 * Chunk + 1));
            even.points = look_up(kIq2xxsTable, even_bytes(index));
            odd.points = look_up(kIq2xxsTable, odd_bytes(index));
        }
        template <int Step>
        __m512i weights() const
        {
            constexpr int kPoint = Step / 2;
            return (kPoint % 2 == 0 ? even : odd).template four<kPoint / 2, Step % 2, kPoint>();
        }
    };
};

struct InterleavedIQ2_XS : HalfGroups {
    using Rows = IQ2_XS;
    static constexpr int kHalfAt = 0, kHalfBytes = 2, kWordsAt = 2, kWords = 18;
    static constexpr int source(int word) { return word < 2 ? 16 + word : word - 2; }
    static NibbleScales scales(const std::byte* halves, const std::byte* words)
    {
        return {eighths_of_halves(halves), words};
    }

    template <int Chunk>
    struct Prepared {
        TwoIq2Points both;
        explicit Prepared(const std::byte* words)
        {
            const __m512i points = words_at(words, 2 + Chunk);
            both.points = look_up(kIq2xsTable, points);
            both.signs = completed_signs(_mm512_srli_epi16(points, 9));
        }
        template <int Step>
        __m512i weights() const
        {
            return both.four<Step / 2, Step % 2, Step / 2 * 2>();
        }
    };
};

struct InterleavedIQ2_S : HalfGroups {
    using Rows = IQ2_S;
    static constexpr int kHalfAt = 0, kHalfBytes = 2, kWordsAt = 2, kWords = 20;
    // The words' order: scales, high bits; then for each group its index and its signs.
    static constexpr int source(int word)
    {
        return word < 2 ? 18 + word : word < 4 ? 16 + word - 2 : word % 2 == 0 ? (word - 4) / 2 : 8 + (word - 4) / 2;
    }
    static NibbleScales scales(const std::byte* halves, const std::byte* words)
    {
        return {eighths_of_halves(halves), words};
    }

    template <int Chunk>
    struct Prepared {
        static constexpr int kGroup = Chunk / 2, kPart = Chunk % 2;
        TwoIq2Points both;
        explicit Prepared(const std::byte* words)
        {
            const __m512i low = bytes_of_lanes<2 * kPart, kZero, 2 * kPart + 1, kZero>(words_at(words, 4 + 2 * kGroup));
            const __m512i high = bytes_of_lanes<kZero, kGroup % 4, kZero, kGroup % 4>(words_at(words, 2 + kGroup / 4));
            const __m512i two = _mm512_srlv_epi16(high, counts_of_halves(4 * kPart, 4 * kPart + 2));
            const __m512i index = _mm512_ternarylogic_epi32(two, _mm512_set1_epi16(0x300), low, kMaskedOr);
            both.points = look_up(kIq2sTable, index);
            both.signs = words_at(words, 5 + 2 * kGroup);
        }
        template <int Step>
        __m512i weights() const
        {
            return both.four<Step / 2, Step % 2, 2 * kPart + Step / 2>();
        }
    };
};

/// Eight points of four weights of IQ3 in each lane: points[0] has points 0 and 2, [1] 1 and 3, [2] 4 and 6, [3] 5
/// and 7.
template <int Bias>
struct EightIq3Points {
    __m512i points[4], signs;

    template <int Step>
    __m512i weights(__m512i magnitudes) const
    {
        constexpr int kHalf = Step % 4 / 2;
        const __m512i two =
            bytes_of_lanes<2 * kHalf, 2 * kHalf + 1, 2 * kHalf, 2 * kHalf + 1>(points[Step / 4 * 2 + Step % 2]);
        // Nibbles have three bits, so that none sets the highest bit of a byte, and those above do no harm.
        const __m512i numbers = _mm512_srlv_epi16(two, counts_of_halves(0, 4));
        return mirrored<Bias, Step / 2, 4 * (Step % 2)>(_mm512_shuffle_epi8(magnitudes, numbers), signs);
    }
};

struct InterleavedIQ3_XXS : WholeGroups {
    using Rows = IQ3_XXS;
    static constexpr int kHalfAt = 0, kHalfBytes = 2, kWordsAt = 2, kWords = 24;
    // The words' order: for each group its signs and two words of index.
    static constexpr int source(int word) { return word % 3 == 0 ? 16 + word / 3 : word / 3 * 2 + word % 3 - 1; }
    static ScalesAboveSigns<0, 3> scales(const std::byte* halves, const std::byte* words)
    {
        return {_mm512_mul_ps(halves_at(halves), _mm512_set1_ps(0.25f)), words};
    }

    template <int Chunk>
    struct Prepared {
        EightIq3Points<64> eight;
        explicit Prepared(const std::byte* words)
        {
            eight.signs = four_signs(words_at(words, 3 * Chunk));
            for (int i = 0; i < 2; ++i) {
                const __m512i index = words_at(words, 3 * Chunk + 1 + i);
                eight.points[2 * i] = look_up(kIq3xxsTable, even_bytes(index));
                eight.points[2 * i + 1] = look_up(kIq3xxsTable, odd_bytes(index));
            }
        }
        template <int Step>
        __m512i weights() const
        {
            constexpr auto kAbove = [](int i) { return char(64 + kIq3xxsLevels[i]); };
            return eight.template weights<Step>(
                _mm512_broadcast_i32x4(_mm_setr_epi8(kAbove(0), kAbove(1), kAbove(2), kAbove(3), kAbove(4), kAbove(5),
                                                     kAbove(6), kAbove(7), 0, 0, 0, 0, 0, 0, 0, 0)));
        }
    };
};

struct InterleavedIQ3_S : WholeGroups {
    using Rows = IQ3_S;
    static constexpr int kHalfAt = 0, kHalfBytes = 2, kWordsAt = 2, kWords = 27;
    // The words' order: scales, ninth bits; then for each group two words of index and its signs.
    static constexpr int source(int word)
    {
        if (word < 3)
            return word == 0 ? 26 : 15 + word;
        const int group = (word - 3) / 3, kind = word % 3;
        return kind == 2 ? 18 + group : 2 * group + kind;
    }

    class Scales
    {
    public:
        Scales(const std::byte* halves, const std::byte* words)
            : scale_(halves_at(halves))
            , nibbles_(words_at(words, 0))
        {
        }
        template <int Group, int>
        __m512 scale() const
        {
            return odd_scales(_mm512_and_si512(_mm512_srli_epi32(nibbles_, 4 * Group), _mm512_set1_epi32(15)), scale_);
        }

    private:
        __m512 scale_;
        __m512i nibbles_;
    };
    static Scales scales(const std::byte* halves, const std::byte* words) { return {halves, words}; }

    template <int Chunk>
    struct Prepared {
        EightIq3Points<16> eight;
        explicit Prepared(const std::byte* words)
        {
            eight.signs = words_at(words, 5 + 3 * Chunk);
            const __m512i high = bytes_of_lanes<kZero, Chunk % 4, kZero, Chunk % 4>(words_at(words, 1 + Chunk / 4));
            const auto points = [&](__m512i low, int first_bit) SPILLWAY_INLINED {
                const __m512i bit = _mm512_srlv_epi16(high, counts_of_halves(first_bit, first_bit + 2));
                const __m512i ninth = _mm512_set1_epi16(0x100);
                return look_up(kIq3sTable, _mm512_ternarylogic_epi32(bit, ninth, low, kMaskedOr));
            };
            for (int i = 0; i < 2; ++i) {
                const __m512i index = words_at(words, 3 + 3 * Chunk + i);
                eight.points[2 * i] = points(even_bytes(index), 4 * i);
                eight.points[2 * i + 1] = points(odd_bytes(index), 4 * i + 1);
            }
        }
        template <int Step>
        __m512i weights() const
        {
            return eight.template weights<Step>(
                _mm512_broadcast_i32x4(_mm_setr_epi8(17, 19, 21, 23, 25, 27, 29, 31, 0, 0, 0, 0, 0, 0, 0, 0)));
        }
    };
};

/// A point of eight weights of IQ1 in each lane, and what is added to each byte.
struct Iq1Point {
    __m512i point, plus;

    template <int Half>
    __m512i four() const
    {
        const __m512i levels = _mm512_broadcast_i32x4(_mm_setr_epi8(
            char(kIq1Levels[0]), char(kIq1Levels[1]), char(kIq1Levels[2]), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0));
        const __m512i numbers = Half == 0 ? point : _mm512_srli_epi16(point, 4);
        return _mm512_add_epi8(_mm512_shuffle_epi8(levels, numbers), plus);
    }
};

/// Returns indexes: eight bits of `low` from bit Low on, above them three of `high` from bit High on.
template <int Low, int High>
inline __m512i iq1_index(__m512i low, __m512i high)
{
    const __m512i above =
        High <= 8 ? _mm512_slli_epi32(high, unsigned(8 - High)) : _mm512_srli_epi32(high, unsigned(High - 8));
    const __m512i eight = byte_of<Low / 8>(low);
    return _mm512_ternarylogic_epi32(above, _mm512_set1_epi32(0x700), eight, kMaskedOr);
}

inline Iq1Point iq1_point(__m512i index, __mmask16 minus)
{
    return {_mm512_i32gather_epi32(index, kIq1Table.of, 4),
            _mm512_maskz_set1_epi32(__mmask16(~minus), 0x01010101 * kIq1Plus)};
}

struct InterleavedIQ1_S : WholeGroups {
    using Rows = IQ1_S;
    static constexpr int kHalfAt = 0, kHalfBytes = 2, kWordsAt = 2, kWords = 12;
    // The words' order: for each two groups their high bits and two words of index.
    static constexpr int source(int word) { return word % 3 == 0 ? 8 + word / 3 : word / 3 * 2 + word % 3 - 1; }

    class Scales
    {
    public:
        Scales(__m512 scale, const std::byte* words)
            : scale_(scale)
            , words_(words)
        {
        }
        template <int Group, int>
        __m512 scale() const
        {
            const __m512i s = _mm512_srli_epi32(words_at(words_, Group / 2 * 3), 16 * (Group % 2) + 12);
            return odd_scales(_mm512_and_si512(s, _mm512_set1_epi32(7)), scale_);
        }

    private:
        __m512 scale_;
        const std::byte* words_;
    };
    static Scales scales(const std::byte* halves, const std::byte* words) { return {eighths_of_halves(halves), words}; }

    template <int Chunk>
    struct Prepared {
        Iq1Point points[4];
        explicit Prepared(const std::byte* words)
        {
            constexpr int kFirst = 16 * (Chunk % 2);  // bit of high
            const __m512i high = words_at(words, Chunk / 2 * 3);
            const __m512i index = words_at(words, Chunk / 2 * 3 + 1 + Chunk % 2);
            const __mmask16 minus = _mm512_test_epi32_mask(high, _mm512_set1_epi32(int(0x8000u << kFirst)));
            unrolled<4>([&]<int I>() SPILLWAY_INLINED {
                points[I] = iq1_point(iq1_index<8 * I, kFirst + 3 * I>(index, high), minus);
            });
        }
        template <int Step>
        __m512i weights() const
        {
            return points[Step / 2].template four<Step % 2>();
        }
    };
};

struct InterleavedIQ1_M : HalfGroups {
    using Rows = IQ1_M;
    static constexpr int kHalfAt = 0, kHalfBytes = 0, kWordsAt = 0, kWords = 14;
    // The words' order: scales; then for each two groups their high bits and two words of index.
    static constexpr int source(int word)
    {
        if (word < 2)
            return 12 + word;
        const int two = (word - 2) / 3, kind = (word - 2) % 3;
        return kind == 0 ? 8 + two : 2 * two + kind - 1;
    }

    class Scales
    {
    public:
        explicit Scales(const std::byte* words)
            : words_{words_at(words, 0), words_at(words, 1)}
        {
            const __m512i top = _mm512_set1_epi32(0xf000);
            const auto nibble = [&](__m512i word, unsigned down) {
                return _mm512_srli_epi32(_mm512_and_si512(word, top), down);
            };
            const __m512i low = _mm512_or_si512(nibble(words_[0], 12), nibble(_mm512_srli_epi32(words_[0], 16), 8));
            const __m512i high = _mm512_or_si512(nibble(words_[1], 4), nibble(_mm512_srli_epi32(words_[1], 16), 0));
            scale_ = _mm512_mul_ps(low_half_of(_mm512_or_si512(low, high)), _mm512_set1_ps(0.125f));
        }
        template <int Group, int Part>
        __m512 scale() const
        {
            constexpr int kBit = 16 * (Group / 2 % 2) + 6 * (Group % 2) + 3 * Part;
            const __m512i s = _mm512_srli_epi32(words_[Group / 4], kBit);
            return odd_scales(_mm512_and_si512(s, _mm512_set1_epi32(7)), scale_);
        }

    private:
        __m512i words_[2];
        __m512 scale_;
    };
    static Scales scales(const std::byte*, const std::byte* words) { return Scales(words); }

    template <int Chunk>
    struct Prepared {
        Iq1Point points[2];
        explicit Prepared(const std::byte* words)
        {
            constexpr int kGroup = Chunk / 2, kPart = Chunk % 2, kAt = 2 + kGroup / 2 * 3;
            const __m512i high = words_at(words, kAt), index = words_at(words, kAt + 1 + kGroup % 2);
            unrolled<2>([&]<int I>() SPILLWAY_INLINED {
                constexpr int kBit = 16 * (kGroup % 2) + 8 * kPart + 4 * I;
                points[I] = iq1_point(iq1_index<16 * kPart + 8 * I, kBit>(index, high),
                                      _mm512_test_epi32_mask(high, _mm512_set1_epi32(int(8u << kBit))));
            });
        }
        template <int Step>
        __m512i weights() const
        {
            return points[Step / 2].template four<Step % 2>();
        }
    };
};

}  // namespace kernels::avx512
