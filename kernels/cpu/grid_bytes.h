// Spreads the grids of the IQ1, IQ2 and IQ3 types to bytes, for products that look up four or eight weights at once.
#pragma once

#include "kernels/blocks.h"

#include <cstddef>
#include <cstdint>

namespace kernels {

/// A point's weights as the bytes of one word, the first weight in the lowest.
template <class Word, int Count>
struct PointBytes {
    alignas(64) Word of[Count];
};

/// Returns the points with a byte for each weight. bits: how many bits of a point number a weight's level.
template <class Word, int Count, class Level, int Levels>
constexpr PointBytes<Word, Count> point_bytes(const std::uint16_t (&points)[Count], int bits,
                                              const Level (&levels)[Levels])
{
    PointBytes<Word, Count> bytes{};
    for (int p = 0; p < Count; ++p)
        for (int i = 0; i < int(sizeof(Word)); ++i)
            bytes.of[p] |= Word(levels[points[p] >> (bits * i) & ((1 << bits) - 1)]) << (8 * i);
    return bytes;
}

inline constexpr auto kIq2xxsBytes = point_bytes<std::uint64_t>(kIq2xxsGrid, 2, kIq2Levels);
inline constexpr auto kIq2xsBytes = point_bytes<std::uint64_t>(kIq2xsGrid, 2, kIq2Levels);
inline constexpr auto kIq2sBytes = point_bytes<std::uint64_t>(kIq2sGrid, 2, kIq2Levels);
inline constexpr auto kIq3xxsBytes = point_bytes<std::uint32_t>(kIq3xxsGrid, 4, kIq3xxsLevels);

/// Weights of IQ1_S and IQ1_M in eighths, plus a bias of 16. A set sign bit takes one eighth away: kIq1Levels has it
/// taken away already, and where the bit is not set kIq1Plus is added.
constexpr int kIq1Bias = 16, kIq1Plus = 2;
inline constexpr std::uint8_t kIq1Levels[4] = {kIq1Bias - 8 - 1, kIq1Bias - 1, kIq1Bias + 8 - 1, 0};
inline constexpr auto kIq1Bytes = point_bytes<std::uint64_t>(kIq1Grid, 2, kIq1Levels);

}  // namespace kernels
