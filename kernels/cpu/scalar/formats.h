// Unpacks each packed type in the plainest way: read this to learn the formats. A group of 32 weights becomes small
// integers with a scale and an offset per 16: w[i] = scale[i / 16] * q[i] + offset[i / 16].
#pragma once

#include "kernels/blocks.h"
#include "kernels/half.h"

#include <bit>
#include <cstring>

namespace kernels::scalar {

struct Group32 {
    std::int8_t q[32];
    float scale[2];
    float offset[2];

    void set_scale(float s, float o = 0.0f)
    {
        scale[0] = scale[1] = s;
        offset[0] = offset[1] = o;
    }
};

// ---- blocks of 32 ----

inline void unpack(const BlockQ4_0& b, int, Group32& g)
{
    g.set_scale(half_to_float(b.scale));
    for (int j = 0; j < 16; ++j) {
        g.q[j] = std::int8_t((b.nibbles[j] & 15) - 8);
        g.q[j + 16] = std::int8_t((b.nibbles[j] >> 4) - 8);
    }
}

inline void unpack(const BlockQ4_1& b, int, Group32& g)
{
    g.set_scale(half_to_float(b.scale), half_to_float(b.min));
    for (int j = 0; j < 16; ++j) {
        g.q[j] = std::int8_t(b.nibbles[j] & 15);
        g.q[j + 16] = std::int8_t(b.nibbles[j] >> 4);
    }
}

inline void unpack(const BlockQ5_0& b, int, Group32& g)
{
    g.set_scale(half_to_float(b.scale));
    for (int j = 0; j < 16; ++j) {
        const int low_bit = b.high[j / 8] >> (j % 8) & 1;
        const int high_bit = b.high[2 + j / 8] >> (j % 8) & 1;
        g.q[j] = std::int8_t((b.nibbles[j] & 15) + 16 * low_bit - 16);
        g.q[j + 16] = std::int8_t((b.nibbles[j] >> 4) + 16 * high_bit - 16);
    }
}

inline void unpack(const BlockQ5_1& b, int, Group32& g)
{
    g.set_scale(half_to_float(b.scale), half_to_float(b.min));
    for (int j = 0; j < 16; ++j) {
        const int low_bit = b.high[j / 8] >> (j % 8) & 1;
        const int high_bit = b.high[2 + j / 8] >> (j % 8) & 1;
        g.q[j] = std::int8_t((b.nibbles[j] & 15) + 16 * low_bit);
        g.q[j + 16] = std::int8_t((b.nibbles[j] >> 4) + 16 * high_bit);
    }
}

inline void unpack(const BlockQ8_0& b, int, Group32& g)
{
    g.set_scale(half_to_float(b.scale));
    std::memcpy(g.q, b.q, 32);
}

inline void unpack(const BlockIQ4_NL& b, int, Group32& g)
{
    g.set_scale(half_to_float(b.scale));
    for (int j = 0; j < 16; ++j) {
        g.q[j] = kIq4Values[b.nibbles[j] & 15];
        g.q[j + 16] = kIq4Values[b.nibbles[j] >> 4];
    }
}

// Returns 2^(exponent - 128); for the two smallest exponents that is a subnormal float.
inline float mxfp4_scale(std::uint8_t exponent)
{
    const std::uint32_t bits = exponent < 2 ? 0x00200000u << exponent : std::uint32_t(exponent - 1) << 23;
    return std::bit_cast<float>(bits);
}

inline void unpack(const BlockMXFP4& b, int, Group32& g)
{
    g.set_scale(mxfp4_scale(b.exponent));
    for (int j = 0; j < 16; ++j) {
        g.q[j] = kMxfp4Values[b.nibbles[j] & 15];
        g.q[j + 16] = kMxfp4Values[b.nibbles[j] >> 4];
    }
}

// ---- blocks of 256: `sub` is the group of 32 within ----

inline void unpack(const BlockQ2_K& b, int sub, Group32& g)
{
    const float scale = half_to_float(b.scale);
    const float min_scale = half_to_float(b.min_scale);
    for (int h = 0; h < 2; ++h) {
        const std::uint8_t s = b.scales[2 * sub + h];
        g.scale[h] = scale * float(s & 15);
        g.offset[h] = -min_scale * float(s >> 4);
    }
    for (int i = 0; i < 32; ++i)
        g.q[i] = std::int8_t(b.q[32 * (sub / 4) + i] >> (2 * (sub % 4)) & 3);
}

inline int q3_k_group_scale(const BlockQ3_K& b, int group)
{
    const int low = group < 8 ? b.scales[group] & 15 : b.scales[group - 8] >> 4;
    const int high = b.scales[8 + group % 4] >> (2 * (group / 4)) & 3;
    return (low | high << 4) - 32;
}

inline void unpack(const BlockQ3_K& b, int sub, Group32& g)
{
    const float scale = half_to_float(b.scale);
    for (int h = 0; h < 2; ++h) {
        g.scale[h] = scale * float(q3_k_group_scale(b, 2 * sub + h));
        g.offset[h] = 0.0f;
    }
    for (int i = 0; i < 32; ++i) {
        const int low = b.q[32 * (sub / 4) + i] >> (2 * (sub % 4)) & 3;
        const int high = b.high[i] >> sub & 1;
        g.q[i] = std::int8_t(low + 4 * high - 4);
    }
}

struct ScaleMin {
    int scale, min;  // six bits each
};

// Reads a group's scale and min as Q4_K and Q5_K pack them.
inline ScaleMin k_scale_min(const std::uint8_t* scales, int group)
{
    if (group < 4)
        return {scales[group] & 63, scales[group + 4] & 63};
    return {(scales[group + 4] & 15) | (scales[group - 4] >> 6) << 4, (scales[group + 4] >> 4) | (scales[group] >> 6)
                                                                                                     << 4};
}

inline void unpack(const BlockQ4_K& b, int sub, Group32& g)
{
    const ScaleMin s = k_scale_min(b.scales, sub);
    g.set_scale(half_to_float(b.scale) * float(s.scale), -half_to_float(b.min_scale) * float(s.min));
    for (int i = 0; i < 32; ++i)
        g.q[i] = std::int8_t(b.nibbles[32 * (sub / 2) + i] >> (4 * (sub % 2)) & 15);
}

inline void unpack(const BlockQ5_K& b, int sub, Group32& g)
{
    const ScaleMin s = k_scale_min(b.scales, sub);
    g.set_scale(half_to_float(b.scale) * float(s.scale), -half_to_float(b.min_scale) * float(s.min));
    for (int i = 0; i < 32; ++i) {
        const int low = b.nibbles[32 * (sub / 2) + i] >> (4 * (sub % 2)) & 15;
        const int high = b.high[i] >> sub & 1;
        g.q[i] = std::int8_t(low + 16 * high);
    }
}

inline void unpack(const BlockQ6_K& b, int sub, Group32& g)
{
    const float scale = half_to_float(b.scale);
    for (int h = 0; h < 2; ++h) {
        g.scale[h] = scale * float(b.scales[2 * sub + h]);
        g.offset[h] = 0.0f;
    }
    const int half = sub / 4;
    const int part = sub % 4;
    for (int i = 0; i < 32; ++i) {
        const int low = b.low[64 * half + 32 * (part % 2) + i] >> (4 * (part / 2)) & 15;
        const int high = b.high[32 * half + i] >> (2 * part) & 3;
        g.q[i] = std::int8_t(low + 16 * high - 32);
    }
}

inline void unpack(const BlockIQ3_S& b, int sub, Group32& g)
{
    const int s = b.scales[sub / 2] >> (4 * (sub % 2)) & 15;
    g.set_scale(half_to_float(b.scale) * float(1 + 2 * s));
    for (int part = 0; part < 8; ++part) {  // four weights each
        const int ninth_bit = b.high[sub] >> part & 1;
        const std::uint32_t magnitudes = kIq3sGrid[b.q[8 * sub + part] | ninth_bit << 8];
        const int signs = b.signs[4 * sub + part / 2] >> (4 * (part % 2));
        for (int i = 0; i < 4; ++i) {
            const int magnitude = int(magnitudes >> (8 * i) & 255u);
            g.q[4 * part + i] = std::int8_t(signs >> i & 1 ? -magnitude : magnitude);
        }
    }
}

inline void unpack(const BlockIQ4_XS& b, int sub, Group32& g)
{
    const int low = b.scales_low[sub / 2] >> (4 * (sub % 2)) & 15;
    const int high = b.scales_high >> (2 * sub) & 3;
    g.set_scale(half_to_float(b.scale) * float((low | high << 4) - 32));
    for (int j = 0; j < 16; ++j) {
        g.q[j] = kIq4Values[b.nibbles[16 * sub + j] & 15];
        g.q[j + 16] = kIq4Values[b.nibbles[16 * sub + j] >> 4];
    }
}

/// Returns seven sign bits with the eighth above them, which makes the number of set ones even.
inline int eight_signs(std::uint32_t seven)
{
    return int(seven | std::uint32_t(std::popcount(seven) & 1) << 7);
}

// Writes a point's eight weights: magnitudes numbered by two bits each, negated where the sign bit is set.
inline void put_iq2_point(std::uint16_t point, int signs, std::int8_t* q)
{
    for (int i = 0; i < 8; ++i) {
        const int magnitude = kIq2Levels[point >> (2 * i) & 3];
        q[i] = std::int8_t(signs >> i & 1 ? -magnitude : magnitude);
    }
}

/// Returns a group's word: four times seven sign bits, from the lowest bit on, below a scale of four bits.
inline std::uint32_t signs_and_scale(const std::uint8_t (&bytes)[4])
{
    std::uint32_t word;
    std::memcpy(&word, bytes, 4);
    return word;
}

inline void unpack(const BlockIQ2_XXS& b, int sub, Group32& g)
{
    const auto& group = b.groups[sub];
    const std::uint32_t word = signs_and_scale(group.signs_and_scale);
    g.set_scale(half_to_float(b.scale) * float(1 + 2 * (word >> 28)) * 0.125f);
    for (int point = 0; point < 4; ++point)
        put_iq2_point(kIq2xxsGrid[group.index[point]], eight_signs(word >> (7 * point) & 127), g.q + 8 * point);
}

inline void set_two_scales(std::uint16_t scale, std::uint8_t nibbles, Group32& g)
{
    for (int h = 0; h < 2; ++h) {
        g.scale[h] = half_to_float(scale) * float(1 + 2 * (nibbles >> (4 * h) & 15)) * 0.125f;
        g.offset[h] = 0.0f;
    }
}

inline void unpack(const BlockIQ2_XS& b, int sub, Group32& g)
{
    set_two_scales(b.scale, b.scales[sub], g);
    for (int i = 0; i < 4; ++i) {
        const std::uint16_t point = b.points[4 * sub + i];
        put_iq2_point(kIq2xsGrid[point & 511], eight_signs(point >> 9), g.q + 8 * i);
    }
}

inline void unpack(const BlockIQ2_S& b, int sub, Group32& g)
{
    set_two_scales(b.scale, b.scales[sub], g);
    for (int i = 0; i < 4; ++i) {
        const int high = b.high[sub] >> (2 * i) & 3;
        put_iq2_point(kIq2sGrid[b.index[4 * sub + i] | high << 8], b.signs[4 * sub + i], g.q + 8 * i);
    }
}

inline void unpack(const BlockIQ3_XXS& b, int sub, Group32& g)
{
    const std::uint32_t word = signs_and_scale(b.signs_and_scales[sub]);
    g.set_scale(half_to_float(b.scale) * float(1 + 2 * (word >> 28)) * 0.25f);
    for (int part = 0; part < 8; ++part) {  // four weights each
        const std::uint16_t point = kIq3xxsGrid[b.index[8 * sub + part]];
        const int signs = eight_signs(word >> (7 * (part / 2)) & 127) >> (4 * (part % 2));
        for (int i = 0; i < 4; ++i) {
            const int magnitude = kIq3xxsLevels[point >> (4 * i) & 15];
            g.q[4 * part + i] = std::int8_t(signs >> i & 1 ? -magnitude : magnitude);
        }
    }
}

// Writes a point's eight weights in eighths: two bits each stand for -1, 0, 1; an eighth is added or taken away.
inline void put_iq1_point(int index, bool minus, std::int8_t* q)
{
    for (int i = 0; i < 8; ++i)
        q[i] = std::int8_t(8 * ((kIq1Grid[index] >> (2 * i) & 3) - 1) + (minus ? -1 : 1));
}

inline void unpack(const BlockIQ1_S& b, int sub, Group32& g)
{
    const int high = b.high[sub];
    g.set_scale(half_to_float(b.scale) * float(1 + 2 * (high >> 12 & 7)) * 0.125f);
    for (int i = 0; i < 4; ++i)
        put_iq1_point(b.index[4 * sub + i] | (high >> (3 * i) & 7) << 8, high >> 15 & 1, g.q + 8 * i);
}

/// Returns the half whose nibbles are the top ones of the four words.
inline std::uint16_t iq1_m_scale(const std::uint16_t (&words)[4])
{
    return std::uint16_t(words[0] >> 12 | (words[1] >> 12) << 4 | (words[2] >> 12) << 8 | (words[3] >> 12) << 12);
}

inline void unpack(const BlockIQ1_M& b, int sub, Group32& g)
{
    const float scale = half_to_float(iq1_m_scale(b.scales));
    for (int h = 0; h < 2; ++h) {
        const int group_scale = b.scales[sub / 2] >> (3 * (2 * (sub % 2) + h)) & 7;
        g.scale[h] = scale * float(1 + 2 * group_scale) * 0.125f;
        g.offset[h] = 0.0f;
    }
    for (int i = 0; i < 4; ++i) {
        const int nibble = b.high[2 * sub + i / 2] >> (4 * (i % 2)) & 15;
        put_iq1_point(b.index[4 * sub + i] | (nibble & 7) << 8, nibble & 8, g.q + 8 * i);
    }
}

/// Returns trit `t` of a byte: 0, 1 or 2. Multiplying by a power of three drops the trits before it, as the byte
/// overflows.
inline int trit(std::uint8_t byte, int t)
{
    constexpr int kPowers[] = {1, 3, 9, 27, 81};
    return std::uint8_t(byte * kPowers[t]) * 3 >> 8;
}

inline void unpack(const BlockTQ1_0& b, int sub, Group32& g)
{
    g.set_scale(half_to_float(b.scale));
    for (int i = 0; i < 32; ++i) {
        const int w = 32 * sub + i;
        const int value = w < 160   ? trit(b.q[i], sub)
                          : w < 240 ? trit(b.q[32 + w % 16], (w - 160) / 16)
                                    : trit(b.last[w % 4], (w - 240) / 4);
        g.q[i] = std::int8_t(value - 1);
    }
}

inline void unpack(const BlockTQ2_0& b, int sub, Group32& g)
{
    g.set_scale(half_to_float(b.scale));
    for (int i = 0; i < 32; ++i)
        g.q[i] = std::int8_t((b.q[32 * (sub / 4) + i] >> (2 * (sub % 4)) & 3) - 1);
}

// Returns half of the scale, since the values are kept doubled.
inline float nvfp4_scale(std::uint8_t code)
{
    const int exponent = code >> 3 & 15;
    const int fraction = code & 7;
    if (code == 127)
        return 0.0f;
    if (exponent == 0)
        return float(fraction) * 0x1p-10f;
    return std::bit_cast<float>(std::uint32_t(exponent - 8 + 127) << 23 | std::uint32_t(fraction) << 20);
}

inline void unpack(const BlockNVFP4& b, int sub, Group32& g)
{
    for (int h = 0; h < 2; ++h) {
        g.scale[h] = nvfp4_scale(b.scales[2 * sub + h]);
        g.offset[h] = 0.0f;
        for (int j = 0; j < 8; ++j) {
            const std::uint8_t byte = b.nibbles[16 * sub + 8 * h + j];
            g.q[16 * h + j] = kMxfp4Values[byte & 15];
            g.q[16 * h + 8 + j] = kMxfp4Values[byte >> 4];
        }
    }
}

template <class Block>
constexpr int kBlockGroups = 8;  // groups of 32 in a block
template <>
inline constexpr int kBlockGroups<BlockNVFP4> = 2;
template <>
inline constexpr int kBlockGroups<BlockQ4_0> = 1;
template <>
inline constexpr int kBlockGroups<BlockQ4_1> = 1;
template <>
inline constexpr int kBlockGroups<BlockQ5_0> = 1;
template <>
inline constexpr int kBlockGroups<BlockQ5_1> = 1;
template <>
inline constexpr int kBlockGroups<BlockQ8_0> = 1;
template <>
inline constexpr int kBlockGroups<BlockIQ4_NL> = 1;
template <>
inline constexpr int kBlockGroups<BlockMXFP4> = 1;

/// Unpacks group `index` of a row.
template <class Block>
void unpack_group(const std::byte* row, int index, Group32& g)
{
    Block block;  // rows of blocks with an odd size have no alignment
    std::memcpy(&block, row + std::size_t(index / kBlockGroups<Block>) * sizeof(Block), sizeof block);
    unpack(block, index % kBlockGroups<Block>, g);
}

}  // namespace kernels::scalar
