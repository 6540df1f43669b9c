// Shows how each packed type spells its weights: the page to read to learn the formats. A group of 32 weights becomes
// small integers with a scale and an offset per 16: w[i] = scale[i / 16] * q[i] + offset[i / 16].
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

// 2^(exponent - 128); the two smallest are subnormal floats.
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

// The packing that Q4_K and Q5_K share.
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

template <class Block>
constexpr int kBlockGroups = 8;  // groups of 32 in a block
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

/// Group `index` of a row.
template <class Block>
void unpack_group(const std::byte* row, int index, Group32& g)
{
    Block block;  // rows of blocks with an odd size have no alignment
    std::memcpy(&block, row + std::size_t(index / kBlockGroups<Block>) * sizeof(Block), sizeof block);
    unpack(block, index % kBlockGroups<Block>, g);
}

}  // namespace kernels::scalar
