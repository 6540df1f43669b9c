// Unpacks four weights of each packed type for one thread: as four signed bytes that an integer dot product takes, with
// a scale and an offset. w[i] = scale * q[i] + offset. kernels/cpu/scalar/formats.h says the same in plainer words.
#pragma once

#include "kernels/blocks.h"
#include "kernels/cuda/device.h"

namespace kernels::cuda {

struct Four {
    std::uint32_t q;  // four signed bytes
    float scale, offset;
};

// ---- bytes ----

/// Returns four bytes that begin at an even address; blocks of most types are aligned no better.
__device__ inline std::uint32_t load4(const void* at)
{
    const auto* halves = static_cast<const std::uint16_t*>(at);
    return std::uint32_t(halves[0]) | std::uint32_t(halves[1]) << 16;
}

/// Spreads bits 0..3 to the lowest bits of four bytes.
__device__ inline std::uint32_t spread_bits(std::uint32_t bits)
{
    return (bits & 15u) * 0x00204081u & 0x01010101u;
}

/// Returns q - c in each byte, for bytes q and c below 128.
__device__ inline std::uint32_t minus(std::uint32_t q, std::uint32_t c)
{
    return ((q | 0x80808080u) - c * 0x01010101u) ^ 0x80808080u;
}

/// Bytes that begin anywhere, read by aligned words; the word after the last byte is read as well.
class AnyBytes
{
public:
    __device__ explicit AnyBytes(const void* at)
    {
        const auto past = unsigned(reinterpret_cast<std::uintptr_t>(at) % 4);
        words_ = reinterpret_cast<const std::uint32_t*>(static_cast<const std::byte*>(at) - past);
        shift_ = 8 * past;
    }
    /// Reads four words from byte `offset` on, a multiple of 4, moved down by some bits: then the topmost bits mean
    /// nothing.
    __device__ void take(std::uint32_t (&words)[4], unsigned offset, unsigned down = 0) const
    {
        const std::uint32_t* from = words_ + offset / 4;
        std::uint32_t read[5];
#pragma unroll
        for (int i = 0; i < 5; ++i)
            read[i] = from[i];
#pragma unroll
        for (int i = 0; i < 4; ++i)
            words[i] = __funnelshift_r(read[i], read[i + 1], shift_ + down);
    }

private:
    const std::uint32_t* words_;
    unsigned shift_;  // bits of the first word that are before them
};

/// Sixteen bytes that nibbles are looked up in, without memory.
struct ByteTable {
    std::uint32_t words[4];
};
constexpr ByteTable table_of(const std::int8_t (&values)[16])
{
    ByteTable table{};
    for (int i = 0; i < 16; ++i)
        table.words[i / 4] |= std::uint32_t(std::uint8_t(values[i])) << (8 * (i % 4));
    return table;
}
constexpr ByteTable kIq4Table = table_of(kIq4Values);
constexpr ByteTable kMxfp4Table = table_of(kMxfp4Values);

/// Holds the table's values for the low and for the high halves of four bytes.
struct TwoQuads {
    std::uint32_t low, high;
};
__device__ inline TwoQuads look_up(ByteTable table, std::uint32_t bytes)
{
    // A permutation takes four nibbles in turn, of eight values; the topmost bit chooses between two of them.
    const std::uint32_t places = bytes & 0x77777777u;
    const std::uint32_t halves = (bytes >> 1 & 0x44444444u) | 0x32103210u;
    std::uint32_t found[2];
    for (int i = 0; i < 2; ++i)
        found[i] = __byte_perm(__byte_perm(table.words[0], table.words[1], places >> (16 * i)),
                               __byte_perm(table.words[2], table.words[3], places >> (16 * i)), halves >> (16 * i));
    return {__byte_perm(found[0], found[1], 0x6420u), __byte_perm(found[0], found[1], 0x7531u)};
}
/// Does the same for the low (0) or the high halves (1) alone.
__device__ inline std::uint32_t look_up(ByteTable table, std::uint32_t bytes, int half)
{
    const TwoQuads quads = look_up(table, bytes);
    return half == 0 ? quads.low : quads.high;
}

// The device's own copies of the larger tables, whose elements are looked up by computed indices. They hold weights as
// they are multiplied, a byte each: they are small enough for a multiprocessor's first cache.
template <class T, int N>
struct Table {
    T at[N];
};
/// Returns four bytes from numbers of this many bits, the lowest first. value: what a number stands for
template <class Value>
constexpr std::uint32_t four_bytes(std::uint32_t numbers, int bits, const Value& value)
{
    std::uint32_t four = 0;
    for (int i = 0; i < 4; ++i)
        four |= std::uint32_t(value(numbers >> (bits * i) & ((1u << bits) - 1))) << (8 * i);
    return four;
}
struct alignas(8) EightBytes {
    std::uint32_t at[2];
};
template <int N, class Value>
constexpr Table<EightBytes, N> eights_of(const std::uint16_t (&points)[N], const Value& value)
{
    Table<EightBytes, N> table{};
    for (int i = 0; i < N; ++i)
        for (int half = 0; half < 2; ++half)
            table.at[i].at[half] = four_bytes(points[i] >> (8 * half), 2, value);
    return table;
}
constexpr std::uint8_t iq2_level(std::uint32_t number)
{
    return kIq2Levels[number];
}
constexpr std::uint8_t iq1_eighths(std::uint32_t number)
{
    return std::uint8_t(8 * number);  // more than the smallest value has
}
constexpr Table<std::uint32_t, 256> iq3xxs_fours()
{
    Table<std::uint32_t, 256> table{};
    for (int i = 0; i < 256; ++i)
        table.at[i] = four_bytes(kIq3xxsGrid[i], 4, [](std::uint32_t number) { return kIq3xxsLevels[number & 7]; });
    return table;
}
constexpr Table<std::uint32_t, 512> iq3s_fours()
{
    Table<std::uint32_t, 512> table{};
    for (int i = 0; i < 512; ++i)
        table.at[i] = kIq3sGrid[i];
    return table;
}
static const __device__ Table<std::uint32_t, 512> kIq3sHere = iq3s_fours();
static const __device__ Table<std::uint32_t, 256> kIq3xxsHere = iq3xxs_fours();
static const __device__ Table<EightBytes, 256> kIq2xxsHere = eights_of(kIq2xxsGrid, iq2_level);
static const __device__ Table<EightBytes, 512> kIq2xsHere = eights_of(kIq2xsGrid, iq2_level);
static const __device__ Table<EightBytes, 1024> kIq2sHere = eights_of(kIq2sGrid, iq2_level);
static const __device__ Table<EightBytes, 2048> kIq1Here = eights_of(kIq1Grid, iq1_eighths);

/// Returns the low or high halves of four bytes.
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
    return {look_up(kIq4Table, load4(b.nibbles + 4 * (j % 4)), j / 4), half_to_float(b.scale), 0.0f};
}

/// Returns 2^(e - 128); for the two smallest exponents that is a subnormal float.
__device__ inline float mxfp4_scale(std::uint32_t e)
{
    return __uint_as_float(e < 2 ? 0x00200000u << e : (e - 1) << 23);
}

__device__ inline Four four(const BlockMXFP4& b, int, int j)
{
    const std::uint8_t* at = b.nibbles + 4 * (j % 4);  // of any alignment
    const std::uint32_t bytes =
        std::uint32_t(at[0]) | std::uint32_t(at[1]) << 8 | std::uint32_t(at[2]) << 16 | std::uint32_t(at[3]) << 24;
    return {look_up(kMxfp4Table, bytes, j / 4), mxfp4_scale(b.exponent), 0.0f};
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

// Reads a group's scale and min as Q4_K and Q5_K pack them.
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

/// Returns four magnitudes, negated where one of four bits is set; no magnitude is zero, so no byte carries into the
/// next.
__device__ inline std::uint32_t with_signs(std::uint32_t magnitudes, std::uint32_t bits)
{
    const std::uint32_t signs = spread_bits(bits);
    return (magnitudes ^ signs * 255u) + signs;
}

/// Returns seven sign bits with the eighth above them, which makes the number of set ones even.
__device__ inline std::uint32_t eight_signs(std::uint32_t seven)
{
    return seven | (std::uint32_t(__popc(seven)) & 1u) << 7;
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
    return {with_signs(kIq2xxsHere.at[group.index[j / 2]].at[j % 2], signs >> (j % 2 * 4)),
            odd_scale(b.scale, word >> 28) * 0.125f, 0.0f};
}

__device__ inline Four four(const BlockIQ2_XS& b, int sub, int j)
{
    const std::uint32_t point = b.points[4 * sub + j / 2];
    const std::uint32_t s = b.scales[sub] >> (4 * (j / 4)) & 15;
    return {with_signs(kIq2xsHere.at[point & 511u].at[j % 2], eight_signs(point >> 9) >> (j % 2 * 4)),
            odd_scale(b.scale, s) * 0.125f, 0.0f};
}

__device__ inline Four four(const BlockIQ2_S& b, int sub, int j)
{
    const int at = 4 * sub + j / 2;
    const int high = b.high[sub] >> (2 * (j / 2)) & 3;
    const std::uint32_t s = b.scales[sub] >> (4 * (j / 4)) & 15;
    return {with_signs(kIq2sHere.at[b.index[at] | high << 8].at[j % 2], std::uint32_t(b.signs[at]) >> (j % 2 * 4)),
            odd_scale(b.scale, s) * 0.125f, 0.0f};
}

__device__ inline Four four(const BlockIQ3_XXS& b, int sub, int j)
{
    const std::uint32_t word = load4(b.signs_and_scales[sub]);
    const std::uint32_t signs = eight_signs(word >> (7 * (j / 2)) & 127u) >> (4 * (j % 2));
    return {with_signs(kIq3xxsHere.at[b.index[8 * sub + j]], signs), odd_scale(b.scale, word >> 28) * 0.25f, 0.0f};
}

__device__ inline Four four(const BlockIQ3_S& b, int sub, int j)
{
    const std::uint32_t magnitudes = kIq3sHere.at[b.q[8 * sub + j] | (b.high[sub] >> j & 1) << 8];
    const std::uint32_t s = b.scales[sub / 2] >> (4 * (sub % 2)) & 15;
    return {with_signs(magnitudes, std::uint32_t(b.signs[4 * sub + j / 2]) >> (4 * (j % 2))), odd_scale(b.scale, s),
            0.0f};
}

/// Returns four values of a point, -1, 0 and 1, in eighths, with one eighth more or less.
__device__ inline std::uint32_t iq1_four(int index, int half, bool less)
{
    return minus(kIq1Here.at[index].at[half], less ? 9 : 7);
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

__device__ inline std::uint32_t power_of_3(int t)
{
    return t == 0 ? 1 : t == 1 ? 3 : t == 2 ? 9 : t == 3 ? 27 : 81;
}

/// Returns trit t of four bytes. power: 3 to the t; the multiplication makes the trits before it overflow.
__device__ inline std::uint32_t trits4(std::uint32_t bytes, std::uint32_t power)
{
    const std::uint32_t even = (bytes & 0x00ff00ffu) * power & 0x00ff00ffu;
    const std::uint32_t odd = (bytes >> 8 & 0x00ff00ffu) * power & 0x00ff00ffu;
    return (even * 3u >> 8 & 0x00030003u) | (odd * 3u & 0x03000300u);
}

__device__ inline Four four(const BlockTQ1_0& b, int sub, int j)
{
    const int w = 32 * sub + 4 * j;
    const std::uint32_t bytes = load4(w < 160 ? b.q + 4 * j : w < 240 ? b.q + 32 + w % 16 : b.last);
    const int t = w < 160 ? sub : w < 240 ? (w - 160) / 16 : (w - 240) / 4;
    return {minus(trits4(bytes, power_of_3(t)), 1), half_to_float(b.scale), 0.0f};
}

__device__ inline Four four(const BlockTQ2_0& b, int sub, int j)
{
    const std::uint32_t numbers = load4(b.q + 32 * (sub / 4) + 4 * j) >> (2 * (sub % 4)) & 0x03030303u;
    return {minus(numbers, 1), half_to_float(b.scale), 0.0f};
}

/// Returns half of the scale, since the values are doubled.
__device__ inline float nvfp4_scale(std::uint32_t code)
{
    const std::uint32_t exponent = code >> 3 & 15;
    const std::uint32_t fraction = code & 7;
    const float normal = __uint_as_float((exponent + 127 - 8) << 23 | fraction << 20);
    return code == 127 ? 0.0f : exponent == 0 ? float(fraction) * 0x1p-10f : normal;
}

__device__ inline Four four(const BlockNVFP4& b, int sub, int j)
{
    const std::uint32_t bytes = load4(b.nibbles + 16 * sub + 8 * (j / 4) + 4 * (j % 2));
    return {look_up(kMxfp4Table, bytes, j % 4 / 2), nvfp4_scale(b.scales[2 * sub + j / 4]), 0.0f};
}

__device__ inline Four four(const BlockIQ4_XS& b, int sub, int j)
{
    const int low = b.scales_low[sub / 2] >> (4 * (sub % 2)) & 15;
    const int high = b.scales_high >> (2 * sub) & 3;
    return {look_up(kIq4Table, load4(b.nibbles + 16 * sub + 4 * (j % 4)), j / 4),
            half_to_float(b.scale) * float((low | high << 4) - 32), 0.0f};
}

template <class Block>
constexpr int kBlockGroups = sizeof(Block) > 40 ? 8 : 1;  // groups of 32 in a block
template <>
inline constexpr int kBlockGroups<BlockNVFP4> = 2;

/// Returns weights 4 j .. 4 j + 3 of group `group` of a row.
template <class Block>
__device__ inline Four four_of_row(const std::byte* row, int group, int j)
{
    const auto& block = reinterpret_cast<const Block*>(row)[group / kBlockGroups<Block>];
    return four(block, group % kBlockGroups<Block>, j);
}

}  // namespace kernels::cuda
