// Lays eight rows of a packed type side by side: a lane of a register reads what belongs to its row, so that neither
// unpacking nor products need anything from another lane. Eight rows take as many bytes as they did: for one block
// after another
//
//   halves  (halves, 8)   2 bytes of each row's block
//   words   (words, 8)    4 bytes of each row's block
//
// What streams from memory is one stream, in the order in which it is used.
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

/// Byte `i` of every lane as a number.
inline __m256i byte_of(__m256i lanes, int i)
{
    return _mm256_and_si256(_mm256_srli_epi32(lanes, 8 * i), _mm256_set1_epi32(0xff));
}
inline __m256i signed_byte_of(__m256i lanes, int i)
{
    return _mm256_srai_epi32(_mm256_slli_epi32(lanes, 24 - 8 * i), 24);
}

inline __m256 scaled(__m256i integers, __m256 scale)
{
    return _mm256_mul_ps(_mm256_cvtepi32_ps(integers), scale);
}

// A format says where in a row's block its halves are, and its words; and unpacks a block of eight rows to the slots of
// a panel from its group `first` on.

struct InterleavedQ4_K {
    using Rows = Q4_K;
    static constexpr int kHalves = 2, kWords = 35;
    static constexpr int half_at(int half) { return 2 * half; }
    static std::uint32_t word(const std::byte* block, int i) { return word_at<std::uint32_t>(block + 4 + 4 * i); }

    static void unpack(const std::byte* halves, const std::byte* words, const Panel& to, int first)
    {
        for (int pair = 0; pair < 4; ++pair) {  // of groups
            std::byte* const low = to.weights(to.slot(first + 2 * pair));
            std::byte* const high = to.weights(to.slot(first + 2 * pair + 1));
#pragma GCC unroll 8
            for (int step = 0; step < 8; ++step) {
                const __m256i nibbles = words_at(words, 3 + 8 * pair + step);
                store256(low + 32 * step, low_nibbles(nibbles));
                store256(high + 32 * step, low_nibbles(_mm256_srli_epi16(nibbles, 4)));
            }
        }
        unpack_scales(halves, words, to, first);
    }

private:
    /// Six bits each; see k_scales().
    static void unpack_scales(const std::byte* halves, const std::byte* words, const Panel& to, int first)
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
            const int slot = to.slot(first + g);
            _mm256_storeu_ps(to.scales(slot), scaled(byte_of(scales[g / 4], g % 4), scale));
            _mm256_storeu_ps(to.offsets(slot), scaled(byte_of(mins[g / 4], g % 4), min_scale));
        }
    }
};

struct InterleavedQ6_K {
    using Rows = Q6_K;
    static constexpr int kHalves = 1, kWords = 52;
    static constexpr int half_at(int) { return 208; }
    /// Scales; then, for each step of 128 weights, three words: six bits of the first three groups, above them two bits
    /// each of the fourth, from its lowest on. The file has low nibbles and high pairs of bits apart, which takes more
    /// instructions to join: here it is done once.
    static std::uint32_t word(const std::byte* block, int i)
    {
        const auto file = [block](int at) { return word_at<std::uint32_t>(block + 4 * at); };
        if (i < 4)
            return file(48 + i);
        const int half = (i - 4) / 24, step = (i - 4) % 24 / 3, j = (i - 4) % 3;
        const std::uint32_t high = file(32 + 8 * half + step);
        const auto weights = [&](int group) {
            const std::uint32_t low = file(16 * half + 8 * (group % 2) + step) >> 4 * (group / 2) & 0x0f0f0f0fu;
            return low | (high >> 2 * group & 0x03030303u) << 4;
        };
        return weights(j) | (weights(3) >> 2 * j & 0x03030303u) << 6;
    }

    static void unpack(const std::byte* halves, const std::byte* words, const Panel& to, int first)
    {
        const __m256i six = _mm256_set1_epi8(63), two = _mm256_set1_epi8(3);
        for (int half = 0; half < 2; ++half) {
            std::byte* group[4];
            for (int g = 0; g < 4; ++g)
                group[g] = to.weights(to.slot(first + 4 * half + g));
#pragma GCC unroll 8
            for (int step = 0; step < 8; ++step) {  // the second half of a group's weights is its second part
                const int at = 4 + 24 * half + 3 * step;
                const __m256i a = words_at(words, at), b = words_at(words, at + 1), c = words_at(words, at + 2);
                store256(group[0] + 32 * step, _mm256_and_si256(a, six));
                store256(group[1] + 32 * step, _mm256_and_si256(b, six));
                store256(group[2] + 32 * step, _mm256_and_si256(c, six));
                const __m256i lowest = _mm256_and_si256(_mm256_srli_epi16(a, 6), two);
                const __m256i middle = _mm256_and_si256(_mm256_srli_epi16(b, 4), _mm256_set1_epi8(0x0c));
                const __m256i highest = _mm256_and_si256(_mm256_srli_epi16(c, 2), _mm256_set1_epi8(0x30));
                store256(group[3] + 32 * step, _mm256_or_si256(_mm256_or_si256(lowest, middle), highest));
            }
        }
        const __m256 scale = halves_at(halves, 0);
#pragma GCC unroll 16
        for (int i = 0; i < 16; ++i)
            _mm256_storeu_ps(to.scales(to.slot(first + i / 2)) + i % 2 * kPanelRows,
                             scaled(signed_byte_of(words_at(words, i / 4), i % 4), scale));
    }
};

struct InterleavedQ8_0 {
    using Rows = Q8_0;
    static constexpr int kHalves = 1, kWords = 8;
    static constexpr int half_at(int) { return 0; }
    static std::uint32_t word(const std::byte* block, int i) { return word_at<std::uint32_t>(block + 2 + 4 * i); }

    static void unpack(const std::byte* halves, const std::byte* words, const Panel& to, int first)
    {
        const int slot = to.slot(first);
#pragma GCC unroll 8
        for (int step = 0; step < 8; ++step)
            store256(to.weights(slot) + 32 * step, words_at(words, step));
        _mm256_storeu_ps(to.scales(slot), halves_at(halves, 0));
    }
};

/// ROW(Name) for the types that have such a format: those of the files that most people use.
#define SPILLWAY_EACH_INTERLEAVED_TYPE(ROW) ROW(Q4_K) ROW(Q6_K) ROW(Q8_0)

/// Blocks [begin, end) of eight rows to a panel whose group 0 is their first.
template <class Format>
inline void unpack_interleaved(const std::byte* rows, int begin, int end, const Panel& to)
{
    constexpr std::ptrdiff_t kBlockBytes = std::ptrdiff_t(Format::Rows::kBytes) * kPanelRows;
    static_assert(Format::Rows::kBytes == 2 * Format::kHalves + 4 * Format::kWords);
    for (int block = begin; block < end; ++block) {
        const std::byte* const halves = rows + block * kBlockBytes;
        Format::unpack(halves, halves + 16 * Format::kHalves, to, (block - begin) * Format::Rows::kGroups);
    }
}

}  // namespace kernels::avx2
