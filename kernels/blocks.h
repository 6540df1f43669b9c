// Declares the packed blocks of GGUF's quantised tensor types, as they lie in the file, and the tables of values that
// some of them index. Layouts and tables are facts of the format; their source is ggml's ggml-common.h
// (https://github.com/ggml-org/ggml, src/ggml-common.h).
//
// Halves (`scale`, `min_scale`) are IEEE 16-bit floats kept as their bits. In blocks of 32 a byte of `nibbles` holds
// weight j in its low half and weight j + 16 in its high half.
#pragma once

#include "kernels/block_values.h"
#include "kernels/iq1_grid.h"
#include "kernels/iq2_s_grid.h"
#include "kernels/iq2_xs_grid.h"
#include "kernels/iq2_xxs_grid.h"
#include "kernels/iq3_xxs_grid.h"

#include <cstdint>

namespace kernels {

constexpr int kBlockLen = 32;        // weights in a plain block, and activations that share one scale
constexpr int kSuperBlockLen = 256;  // weights in a block of the K and IQ types

// w = scale * (nibble - 8)
struct BlockQ4_0 {
    std::uint16_t scale;
    std::uint8_t nibbles[16];
};
static_assert(sizeof(BlockQ4_0) == 18);

// w = scale * nibble + min
struct BlockQ4_1 {
    std::uint16_t scale;
    std::uint16_t min;
    std::uint8_t nibbles[16];
};
static_assert(sizeof(BlockQ4_1) == 20);

// w = scale * (nibble + 16 * bit - 16); bit j of `high` belongs to weight j
struct BlockQ5_0 {
    std::uint16_t scale;
    std::uint8_t high[4];
    std::uint8_t nibbles[16];
};
static_assert(sizeof(BlockQ5_0) == 22);

// w = scale * (nibble + 16 * bit) + min
struct BlockQ5_1 {
    std::uint16_t scale;
    std::uint16_t min;
    std::uint8_t high[4];
    std::uint8_t nibbles[16];
};
static_assert(sizeof(BlockQ5_1) == 24);

// w = scale * q
struct BlockQ8_0 {
    std::uint16_t scale;
    std::int8_t q[32];
};
static_assert(sizeof(BlockQ8_0) == 34);

// w = scale * kIq4Values[nibble]
struct BlockIQ4_NL {
    std::uint16_t scale;
    std::uint8_t nibbles[16];
};
static_assert(sizeof(BlockIQ4_NL) == 18);

// w = 2^(exponent - 127) * value of the four-bit float; the table holds twice the value, hence exponent - 128
struct BlockMXFP4 {
    std::uint8_t exponent;
    std::uint8_t nibbles[16];
};
static_assert(sizeof(BlockMXFP4) == 17);

// 16 groups of 16: w = scale * (scales[g] & 15) * q - min_scale * (scales[g] >> 4).
// Weight 128 h + 32 p + i has its two bits at position p of byte 32 h + i.
struct BlockQ2_K {
    std::uint8_t scales[16];
    std::uint8_t q[64];
    std::uint16_t scale;
    std::uint16_t min_scale;
};
static_assert(sizeof(BlockQ2_K) == 84);

// 16 groups of 16: w = scale * (group scale - 32) * (q + 4 * bit - 4); q as in Q2_K; bit 4 h + p of high[i].
// Group scales are 6 bits: the low four of groups g and g + 8 share byte g, the high two of g, g + 4, g + 8, g + 12
// share byte 8 + g % 4.
struct BlockQ3_K {
    std::uint8_t high[32];
    std::uint8_t q[64];
    std::uint8_t scales[12];
    std::uint16_t scale;
};
static_assert(sizeof(BlockQ3_K) == 110);

// 8 groups of 32: w = scale * group scale * q - min_scale * group min. Weight 64 h + i is the low nibble of byte
// 32 h + i, weight 64 h + 32 + i the high one. Group scales and mins have 6 bits each. Groups 0..3: the scales are the
// low six bits of bytes 0..3 of `scales`, the mins those of bytes 4..7. Groups 4..7: bytes 8..11 hold the low four bits
// of the scales (in their low nibbles) and of the mins (in their high nibbles); the top two bits of the scales are
// those of bytes 0..3, and of the mins those of bytes 4..7.
struct BlockQ4_K {
    std::uint16_t scale;
    std::uint16_t min_scale;
    std::uint8_t scales[12];
    std::uint8_t nibbles[128];
};
static_assert(sizeof(BlockQ4_K) == 144);

// As Q4_K with a fifth bit: bit g of high[i] belongs to weight 32 g + i
struct BlockQ5_K {
    std::uint16_t scale;
    std::uint16_t min_scale;
    std::uint8_t scales[12];
    std::uint8_t high[32];
    std::uint8_t nibbles[128];
};
static_assert(sizeof(BlockQ5_K) == 176);

// 16 groups of 16: w = scale * scales[g] * (low nibble + 16 * two bits - 32). In each half of 128 weights, weight
// 64 s + 32 p + i has its nibble in byte 32 p + i (low for s = 0) and its bits at position 2 s + p of high byte i.
struct BlockQ6_K {
    std::uint8_t low[128];
    std::uint8_t high[64];
    std::int8_t scales[16];
    std::uint16_t scale;
};
static_assert(sizeof(BlockQ6_K) == 210);

// 8 groups of 32: w = scale * (1 + 2 * group scale) * +-kIq3sGrid[index][i]. An index of 9 bits names four weights:
// eight bits in q, the ninth in high (a byte a group). A set sign bit negates.
struct BlockIQ3_S {
    std::uint16_t scale;
    std::uint8_t q[64];
    std::uint8_t high[8];
    std::uint8_t signs[32];
    std::uint8_t scales[4];
};
static_assert(sizeof(BlockIQ3_S) == 110);

// 8 groups of 32: w = scale * (1 + 2 * group scale) / 8 * +-kIq2Levels[.]. A group is four points of kIq2xxsGrid, eight
// weights each, and 32 bits: seven signs of each point, the first point's lowest, below four bits of group scale. A set
// sign bit negates; the eighth weight is negative where that makes the number of negative ones even.
struct BlockIQ2_XXS {
    struct Group {
        std::uint8_t index[4];
        std::uint8_t signs_and_scale[4];
    };
    std::uint16_t scale;
    Group groups[8];
};
static_assert(sizeof(BlockIQ2_XXS) == 66);

// 16 groups of 16: w = scale * (1 + 2 * group scale) / 8 * +-kIq2Levels[.]. A point has nine bits of index into
// kIq2xsGrid and above them seven signs, as in IQ2_XXS. Group scales are nibbles, low before high.
struct BlockIQ2_XS {
    std::uint16_t scale;
    std::uint16_t points[32];
    std::uint8_t scales[8];
};
static_assert(sizeof(BlockIQ2_XS) == 74);

// As IQ2_XS, with points of kIq2sGrid: eight bits of index, two more in high (a byte for four points), and eight signs.
struct BlockIQ2_S {
    std::uint16_t scale;
    std::uint8_t index[32];
    std::uint8_t signs[32];
    std::uint8_t high[8];
    std::uint8_t scales[8];
};
static_assert(sizeof(BlockIQ2_S) == 82);

// 8 groups of 32: w = scale * (1 + 2 * group scale) / 4 * +-kIq3xxsLevels[.]. A group is eight points of kIq3xxsGrid,
// four weights each; its signs and scale as in IQ2_XXS, seven signs for eight weights.
struct BlockIQ3_XXS {
    std::uint16_t scale;
    std::uint8_t index[64];
    std::uint8_t signs_and_scales[8][4];
};
static_assert(sizeof(BlockIQ3_XXS) == 98);

// 8 groups of 32: w = scale * (1 + 2 * group scale) * (point's value +- 1/8). Four points of kIq1Grid a group: eight
// bits of index, and in the group's 16 bits of high three more of each, three of scale, and the sign of the 1/8.
struct BlockIQ1_S {
    std::uint16_t scale;
    std::uint8_t index[32];
    std::uint16_t high[8];
};
static_assert(sizeof(BlockIQ1_S) == 50);

// 16 groups of 16: as IQ1_S, but each point has a nibble in high (low before high): three bits of index, and the sign
// of its 1/8. Each word of scales holds the scales of four groups, three bits each; above them is a nibble of the
// block's scale, a half, whose lowest nibble is in the first word.
struct BlockIQ1_M {
    std::uint8_t index[32];
    std::uint8_t high[16];
    std::uint16_t scales[4];
};
static_assert(sizeof(BlockIQ1_M) == 56);

// w = scale * (trit - 1). A byte holds five trits as a fraction of 256: three times the byte is its first trit times
// 256, plus a byte that holds the other trits in the same way. Weight 32 t + i is trit t of q[i], weight 160 + 16 t + i
// that of q[32 + i], weight 240 + 4 t + i that of last[i], which has four only.
struct BlockTQ1_0 {
    std::uint8_t q[48];
    std::uint8_t last[4];
    std::uint16_t scale;
};
static_assert(sizeof(BlockTQ1_0) == 54);

// w = scale * (q - 1); two bits each, as in Q2_K
struct BlockTQ2_0 {
    std::uint8_t q[64];
    std::uint16_t scale;
};
static_assert(sizeof(BlockTQ2_0) == 66);

// 4 groups of 16: w = scale * value of the four-bit float; byte 8 g + i holds weights i and i + 8 of group g. A scale
// is a float of four bits of exponent (bias 7), three of fraction and no sign (the top bit means nothing); 127 stands
// for 0.
struct BlockNVFP4 {
    std::uint8_t scales[4];
    std::uint8_t nibbles[32];
};
static_assert(sizeof(BlockNVFP4) == 36);

// 8 groups of 32: w = scale * (group scale - 32) * kIq4Values[nibble]; six bits of scale: four in scales_low, two in
// scales_high.
struct BlockIQ4_XS {
    std::uint16_t scale;
    std::uint16_t scales_high;
    std::uint8_t scales_low[4];
    std::uint8_t nibbles[128];
};
static_assert(sizeof(BlockIQ4_XS) == 136);

}  // namespace kernels
