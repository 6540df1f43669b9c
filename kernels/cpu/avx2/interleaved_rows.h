// Lays eight rows of a packed type side by side: a lane of a register reads what belongs to its row, so that neither
// unpacking nor products need anything from another lane. Eight rows take as many bytes as they did: for one block
// after another
//
//   halves  (halves, 8)   2 bytes of each row's block
//   words   (words, 8)    4 bytes of each row's block
//
// Memory is read as one stream, in the order in which it is used.
#pragma once

#include "kernels/cpu.h"
#include "kernels/cpu/avx2/formats.h"
#include "kernels/cpu/avx2/panel.h"

namespace kernels::avx2 {

static_assert(kInterleavedRows % kPanelRows == 0);

inline __m256 halves_at(const std::byte* halves, int i)
{
    return _mm256_cvtph_ps(load128(halves + 16 * std::ptrdiff_t(i)));
}

inline __m256i words_at(const std::byte* words, int i)
{
    return load256(words + 32 * std::ptrdiff_t(i));
}

inline __m256i low_nibbles(__m256i bytes)
{
    return _mm256_and_si256(bytes, _mm256_set1_epi8(15));
}

/// Returns byte `i` of every lane as a number.
inline __m256i byte_of(__m256i lanes, int i)
{
    const __m256i first_bytes = _mm256_setr_epi32(0, 4, 8, 12, 0, 4, 8, 12);
    const __m256i no_bytes = _mm256_set1_epi32(static_cast<int>(0x80808000u));  // above the first: zeros
    return _mm256_shuffle_epi8(lanes, _mm256_or_si256(no_bytes, _mm256_add_epi32(first_bytes, _mm256_set1_epi32(i))));
}
inline __m256i signed_byte_of(__m256i lanes, int i)
{
    return _mm256_srai_epi32(_mm256_slli_epi32(lanes, 24 - 8 * i), 24);
}

inline __m256 scaled(__m256i integers, __m256 scale)
{
    return _mm256_mul_ps(_mm256_cvtepi32_ps(integers), scale);
}

/// Says where the scales of a block's groups go: eight for each, or for each half of it.
struct GroupScales {
    float *scale, *offset;
};

// A format says where in a row's block its halves are (half_at) and which word of four bytes is the i-th when rows are
// interleaved (word): first the words of the scales, then equally many for each group. From a block of eight rows it
// unpacks the scales (scales), and in each step four weights of every row for each of kTogether groups, which come from
// the same words (weights).

struct InterleavedQ4_K {
    using Rows = Q4_K;
    static constexpr int kHalves = 2, kWords = 35, kScaleWords = 3, kTogether = 2;
    static constexpr int half_at(int half) { return 2 * half; }
    static std::uint32_t word(const std::byte* block, int i) { return word_at<std::uint32_t>(block + 4 + 4 * i); }

    static void weights(const std::byte* words, int step, __m256i (&w)[kTogether])
    {
        const __m256i nibbles = words_at(words, step);
        w[0] = low_nibbles(nibbles);
        w[1] = low_nibbles(_mm256_srli_epi16(nibbles, 4));
    }

    /// Unpacks scales and mins of six bits each, as k_scales() does.
    static void scales(const std::byte* halves, const std::byte* words, const GroupScales& to)
    {
        const __m256i a = words_at(words, 0), b = words_at(words, 1), c = words_at(words, 2);
        const __m256i six = _mm256_set1_epi32(0x3f3f3f3f), four = _mm256_set1_epi32(0x0f0f0f0f);
        const __m256i two = _mm256_set1_epi32(0x30303030);
        const __m256i scales[2] = {
            _mm256_and_si256(a, six),
            _mm256_or_si256(_mm256_and_si256(c, four), _mm256_and_si256(_mm256_srli_epi32(a, 2), two))};
        const __m256i mins[2] = {_mm256_and_si256(b, six),
                                 _mm256_or_si256(_mm256_and_si256(_mm256_srli_epi32(c, 4), four),
                                                 _mm256_and_si256(_mm256_srli_epi32(b, 2), two))};
        const __m256 scale = halves_at(halves, 0);
        const __m256 min_scale = _mm256_xor_ps(halves_at(halves, 1), _mm256_set1_ps(-0.0f));
#pragma GCC unroll 8
        for (int g = 0; g < 8; ++g) {
            _mm256_storeu_ps(to.scale + 8 * g, scaled(byte_of(scales[g / 4], g % 4), scale));
            _mm256_storeu_ps(to.offset + 8 * g, scaled(byte_of(mins[g / 4], g % 4), min_scale));
        }
    }
};

struct InterleavedQ6_K {
    using Rows = Q6_K;
    static constexpr int kHalves = 1, kWords = 52, kScaleWords = 4, kTogether = 2;
    static constexpr int half_at(int) { return 208; }
    /// The words of the scales come first. Then three words hold two steps of two groups, which is four times four
    /// weights of six bits. The low six bits of their bytes are the weights of both groups' first step and of the first
    /// group's second step; above these, each word has two bits of the last four weights, the lowest in the first word.
    /// The file has low nibbles and high pairs of bits apart, and joining them takes more instructions than this.
    static std::uint32_t word(const std::byte* block, int i)
    {
        const auto file = [block](int at) { return word_at<std::uint32_t>(block + 4 * at); };
        if (i < 4)
            return file(48 + i);
        const int pair = (i - 4) / 12, steps = (i - 4) % 12 / 3, j = (i - 4) % 3;
        const auto weights = [&](int k) {
            const int group = 2 * pair % 4 + k % 2, step = 2 * steps + k / 2, half = pair / 2;
            const std::uint32_t low = file(16 * half + 8 * (group % 2) + step) >> 4 * (group / 2) & 0x0f0f0f0fu;
            return low | (file(32 + 8 * half + step) >> 2 * group & 0x03030303u) << 4;
        };
        return weights(j) | (weights(3) >> 2 * j & 0x03030303u) << 6;
    }

    static void weights(const std::byte* words, int step, __m256i (&w)[kTogether])
    {
        const __m256i six = _mm256_set1_epi8(63), two = _mm256_set1_epi8(3);
        const int at = step / 2 * 3;
        const __m256i a = words_at(words, at), b = words_at(words, at + 1), c = words_at(words, at + 2);
        if (step % 2 == 0) {
            w[0] = _mm256_and_si256(a, six);
            w[1] = _mm256_and_si256(b, six);
        } else {
            w[0] = _mm256_and_si256(c, six);
            const __m256i lowest = _mm256_and_si256(_mm256_srli_epi16(a, 6), two);
            const __m256i middle = _mm256_and_si256(_mm256_srli_epi16(b, 4), _mm256_set1_epi8(0x0c));
            const __m256i highest = _mm256_and_si256(_mm256_srli_epi16(c, 2), _mm256_set1_epi8(0x30));
            w[1] = _mm256_or_si256(_mm256_or_si256(lowest, middle), highest);
        }
    }

    static void scales(const std::byte* halves, const std::byte* words, const GroupScales& to)
    {
        const __m256 scale = halves_at(halves, 0);
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i)
            _mm256_storeu_ps(to.scale + 8 * i, scaled(signed_byte_of(words_at(words, i / 4), i % 4), scale));
    }
};

struct InterleavedQ8_0 {
    using Rows = Q8_0;
    static constexpr int kHalves = 1, kWords = 8, kScaleWords = 0, kTogether = 1;
    static constexpr int half_at(int) { return 0; }
    static std::uint32_t word(const std::byte* block, int i) { return word_at<std::uint32_t>(block + 2 + 4 * i); }

    static void weights(const std::byte* words, int step, __m256i (&w)[kTogether]) { w[0] = words_at(words, step); }

    static void scales(const std::byte* halves, const std::byte*, const GroupScales& to)
    {
        _mm256_storeu_ps(to.scale, halves_at(halves, 0));
    }
};

/// Expands ROW(Name) for the types that have such a format: those of the files that most people use.
#define SPILLWAY_EACH_INTERLEAVED_TYPE(ROW) ROW(Q4_K) ROW(Q6_K) ROW(Q8_0)

template <class Format>
inline void unpack_scales(const std::byte* block, const GroupScales& to)
{
    Format::scales(block, block + 16 * Format::kHalves, to);
}

/// Returns where the words begin from which the groups from `group` on are unpacked.
template <class Format>
inline const std::byte* words_of(const std::byte* block, int group)
{
    constexpr int kEach = (Format::kWords - Format::kScaleWords) / Format::Rows::kGroups;
    return block + 16 * Format::kHalves + 32 * (Format::kScaleWords + std::ptrdiff_t(group) * kEach);
}

/// Unpacks eight rows into a panel.
template <class Format>
inline void unpack_interleaved(const std::byte* rows, const Panel& to)
{
    using Rows = typename Format::Rows;
    static_assert(Rows::kBytes == 2 * Format::kHalves + 4 * Format::kWords);
    for (int first = 0; first < to.groups; first += Rows::kGroups, rows += kPanelRows * Rows::kBytes) {
        unpack_scales<Format>(rows, {to.scales(first), to.offsets(first)});
        for (int group = 0; group < Rows::kGroups; group += Format::kTogether) {
            const std::byte* const words = words_of<Format>(rows, group);
#pragma GCC unroll 8
            for (int step = 0; step < 8; ++step) {
                __m256i w[Format::kTogether];
                Format::weights(words, step, w);
                for (int i = 0; i < Format::kTogether; ++i)
                    store256(to.weights(first + group + i) + 32 * step, w[i]);
            }
        }
    }
}

}  // namespace kernels::avx2
