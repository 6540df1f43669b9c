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

// A set sign bit negates; no magnitude of the grid is zero, so no byte carries into the next.
__device__ inline Four four(const BlockIQ3_S& b, int sub, int j)
{
    const std::uint32_t magnitudes = kIq3sGridHere.at[b.q[8 * sub + j] | (b.high[sub] >> j & 1) << 8];
    const std::uint32_t signs = spread_bits(std::uint32_t(b.signs[4 * sub + j / 2]) >> (4 * (j % 2)));
    const int s = b.scales[sub / 2] >> (4 * (sub % 2)) & 15;
    return {(magnitudes ^ signs * 255u) + signs, half_to_float(b.scale) * float(1 + 2 * s), 0.0f};
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

/// Weights 4 j .. 4 j + 3 of group `group` of a row.
template <class Block>
__device__ inline Four four_of_row(const std::byte* row, int group, int j)
{
    const auto& block = reinterpret_cast<const Block*>(row)[group / kBlockGroups<Block>];
    return four(block, group % kBlockGroups<Block>, j);
}

}  // namespace kernels::cuda
