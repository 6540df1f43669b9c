// How each packed type gives four of its weights to one thread: as four signed bytes that an integer dot product takes,
// with a scale and an offset. w[i] = scale * q[i] + offset. kernels/cpu/scalar/formats.h says the same in plainer
// words.
#pragma once

#include "kernels/blocks.h"
#include "kernels/cuda/device.h"

namespace kernels::cuda {

struct Four {
    std::uint32_t q;  // four signed bytes
    float scale, offset;
};

// ---- bytes ----

/// Four bytes that begin at an even address; blocks of most types have no better.
__device__ inline std::uint32_t load4(const void* at)
{
    const auto* halves = static_cast<const std::uint16_t*>(at);
    return std::uint32_t(halves[0]) | std::uint32_t(halves[1]) << 16;
}

/// Bits 0..3 to the lowest bits of four bytes.
__device__ inline std::uint32_t spread_bits(std::uint32_t bits)
{
    return (bits & 15u) * 0x00204081u & 0x01010101u;
}

/// q - c in each byte, for bytes q and c below 128.
__device__ inline std::uint32_t minus(std::uint32_t q, std::uint32_t c)
{
    return ((q | 0x80808080u) - c * 0x01010101u) ^ 0x80808080u;
}

// The device's own copies of the tables: their elements are looked up by computed indices.
template <class T, int N>
struct Table {
    T at[N];
};
template <class T, int N>
constexpr Table<T, N> copy_of(const T (&values)[N])
{
    Table<T, N> copy{};
    for (int i = 0; i < N; ++i)
        copy.at[i] = values[i];
    return copy;
}
static const __device__ Table<std::int8_t, 16> kIq4ValuesHere = copy_of(kIq4Values);
static const __device__ Table<std::int8_t, 16> kMxfp4ValuesHere = copy_of(kMxfp4Values);
static const __device__ Table<std::uint32_t, 512> kIq3sGridHere = copy_of(kIq3sGrid);
static const __device__ Table<std::uint16_t, 256> kIq2xxsGridHere = copy_of(kIq2xxsGrid);
static const __device__ Table<std::uint16_t, 512> kIq2xsGridHere = copy_of(kIq2xsGrid);
static const __device__ Table<std::uint16_t, 1024> kIq2sGridHere = copy_of(kIq2sGrid);
static const __device__ Table<std::uint16_t, 256> kIq3xxsGridHere = copy_of(kIq3xxsGrid);
static const __device__ Table<std::uint16_t, 2048> kIq1GridHere = copy_of(kIq1Grid);

/// The table's values for the low (0) or high (1) halves of four bytes.
__device__ inline std::uint32_t look_up(const Table<std::int8_t, 16>& table, const std::uint8_t* nibbles, int half)
{
    std::uint32_t q = 0;
    for (int i = 0; i < 4; ++i)
        q |= std::uint32_t(std::uint8_t(table.at[nibbles[i] >> (4 * half) & 15])) << (8 * i);
    return q;
}

/// The low or high halves of four bytes.
__device__ inline std::uint32_t nibbles4(const std::uint8_t* at, int half)
{
    return load4(at) >> (4 * half) & 0x0f0f0f0fu;
}

// ---- weights 4 j .. 4 j + 3 of group `sub` of 32 ----

__device__ inline Four four(const BlockQ4_0& b, int, int j)
{
    return {minus(nibbles4(b.nibbles + 4 * (j % 4), j / 4), 8), half_to_float(b.scale), 0.0f};
}

__device__ inline Four four(const BlockQ4_1& b, int, int j)
{
    return {nibbles4(b.nibbles + 4 * (j % 4), j / 4), half_to_float(b.scale), half_to_float(b.min)};
}

__device__ inline Four four(const BlockQ5_0& b, int, int j)
{
    const std::uint32_t fifth = spread_bits(load4(b.high) >> (4 * j)) << 4;
    return {minus(nibbles4(b.nibbles + 4 * (j % 4), j / 4) | fifth, 16), half_to_float(b.scale), 0.0f};
}

__device__ inline Four four(const BlockQ5_1& b, int, int j)
{
    const std::uint32_t fifth = spread_bits(load4(b.high) >> (4 * j)) << 4;
    return {nibbles4(b.nibbles + 4 * (j % 4), j / 4) | fifth, half_to_float(b.scale), half_to_float(b.min)};
}

__device__ inline Four four(const BlockQ8_0& b, int, int j)
{
    return {load4(b.q + 4 * j), half_to_float(b.scale), 0.0f};
}

__device__ inline Four four(const BlockIQ4_NL& b, int, int j)
{
    return {look_up(kIq4ValuesHere, b.nibbles + 4 * (j % 4), j / 4), half_to_float(b.scale), 0.0f};
}

__device__ inline Four four(const BlockMXFP4& b, int, int j)
{
    const std::uint32_t e = b.exponent;  // 2^(e - 128); the two smallest are subnormal floats
    const float scale = __uint_as_float(e < 2 ? 0x00200000u << e : (e - 1) << 23);
    return {look_up(kMxfp4ValuesHere, b.nibbles + 4 * (j % 4), j / 4), scale, 0.0f};
}

__device__ inline Four four(const BlockQ2_K& b, int sub, int j)
{
    const std::uint8_t s = b.scales[2 * sub + j / 4];
    return {load4(b.q + 32 * (sub / 4) + 4 * j) >> (2 * (sub % 4)) & 0x03030303u,
            half_to_float(b.scale) * float(s & 15), -half_to_float(b.min_scale) * float(s >> 4)};
}

__device__ inline Four four(const BlockQ3_K& b, int sub, int j)
{
    const int group = 2 * sub + j / 4;
    const int low_scale = group < 8 ? b.scales[group] & 15 : b.scales[group - 8] >> 4;
    const int high_scale = b.scales[8 + group % 4] >> (2 * (group / 4)) & 3;
    const std::uint32_t low = load4(b.q + 32 * (sub / 4) + 4 * j) >> (2 * (sub % 4)) & 0x03030303u;
    const std::uint32_t high = load4(b.high + 4 * j) >> sub & 0x01010101u;
    return {minus(low | high << 2, 4), half_to_float(b.scale) * float((low_scale | high_scale << 4) - 32), 0.0f};
}

struct ScaleMin {
    int scale, min;  // six bits each
};

// The packing that Q4_K and Q5_K share.
__device__ inline ScaleMin k_scale_min(const std::uint8_t* scales, int group)
{
    if (group < 4)
        return {scales[group] & 63, scales[group + 4] & 63};
    return {(scales[group + 4] & 15) | (scales[group - 4] >> 6) << 4, (scales[group + 4] >> 4) | (scales[group] >> 6)
                                                                                                     << 4};
}

__device__ inline Four four(const BlockQ4_K& b, int sub, int j)
{
    const ScaleMin s = k_scale_min(b.scales, sub);
    return {nibbles4(b.nibbles + 32 * (sub / 2) + 4 * j, sub % 2), half_to_float(b.scale) * float(s.scale),
            -half_to_float(b.min_scale) * float(s.min)};
}

__device__ inline Four four(const BlockQ5_K& b, int sub, int j)
{
    const ScaleMin s = k_scale_min(b.scales, sub);
    const std::uint32_t fifth = (load4(b.high + 4 * j) >> sub & 0x01010101u) << 4;
    return {nibbles4(b.nibbles + 32 * (sub / 2) + 4 * j, sub % 2) | fifth, half_to_float(b.scale) * float(s.scale),
            -half_to_float(b.min_scale) * float(s.min)};
}

__device__ inline Four four(const BlockQ6_K& b, int sub, int j)
{
    const int half = sub / 4;
    const int part = sub % 4;
    const std::uint32_t low = nibbles4(b.low + 64 * half + 32 * (part % 2) + 4 * j, part / 2);
    const std::uint32_t high = load4(b.high + 32 * half + 4 * j) >> (2 * part) & 0x03030303u;
    return {minus(low | high << 4, 32), half_to_float(b.scale) * float(b.scales[2 * sub + j / 4]), 0.0f};
}

/// A set bit of four negates; no magnitude is zero, so no byte carries into the next.
__device__ inline std::uint32_t with_signs(std::uint32_t magnitudes, std::uint32_t bits)
{
    const std::uint32_t signs = spread_bits(bits);
    return (magnitudes ^ signs * 255u) + signs;
}

/// Seven signs and the eighth, which makes the number of set ones even.
__device__ inline std::uint32_t eight_signs(std::uint32_t seven)
{
    return seven | (std::uint32_t(__popc(seven)) & 1u) << 7;
}

/// Numbers of two bits, four in the lowest byte, to a byte each.
__device__ inline std::uint32_t spread_pairs(std::uint32_t byte)
{
    const std::uint32_t twos = (byte | byte << 12) & 0x000f000fu;
    return (twos | twos << 6) & 0x03030303u;
}

/// Weights 4 * half .. 4 * half + 3 of a point of eight magnitudes: 0, 1, 2 stand for 8, 25, 43.
__device__ inline std::uint32_t iq2_four(std::uint32_t point, int half, std::uint32_t signs)
{
    static_assert(kIq2Levels[0] == 8 && kIq2Levels[1] == 8 + 17 && kIq2Levels[2] == 8 + 2 * 17 + 1);
    const std::uint32_t numbers = spread_pairs(point >> (8 * half) & 255u);
    return with_signs(0x08080808u + numbers * 17u + (numbers >> 1 & 0x01010101u), signs >> (4 * half));
}

__device__ inline float odd_scale(std::uint16_t scale, std::uint32_t s)
{
    return half_to_float(scale) * float(1 + 2 * s);
}

__device__ inline Four four(const BlockIQ2_XXS& b, int sub, int j)
{
    const auto& group = b.groups[sub];
    const std::uint32_t word = load4(group.signs_and_scale);
    const std::uint32_t signs = eight_signs(word >> (7 * (j / 2)) & 127u);
    return {iq2_four(kIq2xxsGridHere.at[group.index[j / 2]], j % 2, signs), odd_scale(b.scale, word >> 28) * 0.125f,
            0.0f};
}

__device__ inline Four four(const BlockIQ2_XS& b, int sub, int j)
{
    const std::uint32_t point = b.points[4 * sub + j / 2];
    const std::uint32_t s = b.scales[sub] >> (4 * (j / 4)) & 15;
    return {iq2_four(kIq2xsGridHere.at[point & 511u], j % 2, eight_signs(point >> 9)), odd_scale(b.scale, s) * 0.125f,
            0.0f};
}

__device__ inline Four four(const BlockIQ2_S& b, int sub, int j)
{
    const int at = 4 * sub + j / 2;
    const int high = b.high[sub] >> (2 * (j / 2)) & 3;
    const std::uint32_t s = b.scales[sub] >> (4 * (j / 4)) & 15;
    return {iq2_four(kIq2sGridHere.at[b.index[at] | high << 8], j % 2, b.signs[at]), odd_scale(b.scale, s) * 0.125f,
            0.0f};
}

__device__ inline Four four(const BlockIQ3_XXS& b, int sub, int j)
{
    const std::uint32_t word = load4(b.signs_and_scales[sub]);
    const std::uint32_t signs = eight_signs(word >> (7 * (j / 2)) & 127u) >> (4 * (j % 2));
    const std::uint32_t point = kIq3xxsGridHere.at[b.index[8 * sub + j]];
    const std::uint32_t twos = (point | point << 8) & 0x00ff00ffu;
    const std::uint32_t numbers = (twos | twos << 4) & 0x0f0f0f0fu;
    // 4, 12 and so on by 8, and 2 more for the last.
    static_assert(kIq3xxsLevels[0] == 4 && kIq3xxsLevels[6] == 52 && kIq3xxsLevels[7] == 62);
    const std::uint32_t last = (numbers + 0x01010101u) >> 2 & 0x02020202u;
    return {with_signs(0x04040404u + numbers * 8u + last, signs), odd_scale(b.scale, word >> 28) * 0.25f, 0.0f};
}

__device__ inline Four four(const BlockIQ3_S& b, int sub, int j)
{
    const std::uint32_t magnitudes = kIq3sGridHere.at[b.q[8 * sub + j] | (b.high[sub] >> j & 1) << 8];
    const std::uint32_t s = b.scales[sub / 2] >> (4 * (sub % 2)) & 15;
    return {with_signs(magnitudes, std::uint32_t(b.signs[4 * sub + j / 2]) >> (4 * (j % 2))), odd_scale(b.scale, s),
            0.0f};
}

/// In eighths: a point's values -1, 0, 1, and one more or less.
__device__ inline std::uint32_t iq1_four(int index, int half, bool less)
{
    const std::uint32_t numbers = spread_pairs(kIq1GridHere.at[index] >> (8 * half) & 255u);
    return minus(numbers * 8u, less ? 9 : 7);
}

__device__ inline Four four(const BlockIQ1_S& b, int sub, int j)
{
    const int high = b.high[sub];
    const int index = b.index[4 * sub + j / 2] | (high >> (3 * (j / 2)) & 7) << 8;
    return {iq1_four(index, j % 2, (high >> 15 & 1) != 0), odd_scale(b.scale, std::uint32_t(high >> 12 & 7)) * 0.125f,
            0.0f};
}

__device__ inline Four four(const BlockIQ1_M& b, int sub, int j)
{
    const int nibble = b.high[2 * sub + j / 4] >> (4 * (j / 2 % 2)) & 15;
    const auto scale = std::uint16_t(b.scales[0] >> 12 | (b.scales[1] >> 12) << 4 | (b.scales[2] >> 12) << 8 |
                                     (b.scales[3] >> 12) << 12);
    const std::uint32_t s = b.scales[sub / 2] >> (6 * (sub % 2) + 3 * (j / 4)) & 7;
    return {iq1_four(b.index[4 * sub + j / 2] | (nibble & 7) << 8, j % 2, (nibble & 8) != 0),
            odd_scale(scale, s) * 0.125f, 0.0f};
}

/// Trit `t` of four bytes: what overflows as they are multiplied are the trits before it.
__device__ inline std::uint32_t trits4(std::uint32_t bytes, int t)
{
    const std::uint32_t power = t == 0 ? 1 : t == 1 ? 3 : t == 2 ? 9 : t == 3 ? 27 : 81;
    const std::uint32_t even = (bytes & 0x00ff00ffu) * power & 0x00ff00ffu;
    const std::uint32_t odd = (bytes >> 8 & 0x00ff00ffu) * power & 0x00ff00ffu;
    return (even * 3u >> 8 & 0x00030003u) | (odd * 3u & 0x03000300u);
}

__device__ inline Four four(const BlockTQ1_0& b, int sub, int j)
{
    const int w = 32 * sub + 4 * j;
    const std::uint32_t bytes = load4(w < 160 ? b.q + 4 * j : w < 240 ? b.q + 32 + w % 16 : b.last);
    const int t = w < 160 ? sub : w < 240 ? (w - 160) / 16 : (w - 240) / 4;
    return {minus(trits4(bytes, t), 1), half_to_float(b.scale), 0.0f};
}

__device__ inline Four four(const BlockTQ2_0& b, int sub, int j)
{
    const std::uint32_t numbers = load4(b.q + 32 * (sub / 4) + 4 * j) >> (2 * (sub % 4)) & 0x03030303u;
    return {minus(numbers, 1), half_to_float(b.scale), 0.0f};
}

__device__ inline Four four(const BlockNVFP4& b, int sub, int j)
{
    const std::uint32_t code = b.scales[2 * sub + j / 4];
    const std::uint32_t exponent = code >> 3 & 15;
    const std::uint32_t fraction = code & 7;
    // Half of the scale, since the values are doubled.
    const float normal = __uint_as_float((exponent + 127 - 8) << 23 | fraction << 20);
    const float scale = code == 127 ? 0.0f : exponent == 0 ? float(fraction) * 0x1p-10f : normal;
    const std::uint8_t* nibbles = b.nibbles + 16 * sub + 8 * (j / 4) + 4 * (j % 2);
    return {look_up(kMxfp4ValuesHere, nibbles, j % 4 / 2), scale, 0.0f};
}

__device__ inline Four four(const BlockIQ4_XS& b, int sub, int j)
{
    const int low = b.scales_low[sub / 2] >> (4 * (sub % 2)) & 15;
    const int high = b.scales_high >> (2 * sub) & 3;
    return {look_up(kIq4ValuesHere, b.nibbles + 16 * sub + 4 * (j % 4), j / 4),
            half_to_float(b.scale) * float((low | high << 4) - 32), 0.0f};
}

template <class Block>
constexpr int kBlockGroups = sizeof(Block) > 40 ? 8 : 1;  // groups of 32 in a block
template <>
inline constexpr int kBlockGroups<BlockNVFP4> = 2;

/// Weights 4 j .. 4 j + 3 of group `group` of a row.
template <class Block>
__device__ inline Four four_of_row(const std::byte* row, int group, int j)
{
    const auto& block = reinterpret_cast<const Block*>(row)[group / kBlockGroups<Block>];
    return four(block, group % kBlockGroups<Block>, j);
}

}  // namespace kernels::cuda
