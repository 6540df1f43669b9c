// How a lane takes its share of a row of packed weights for integer products: two runs of some quads of four bytes,
// each run under one scale and one offset. The types that most models come in are taken in wide loads, the others by
// quads.
#pragma once

#include "kernels/cuda/unpack.cuh"

namespace kernels::cuda {

/// Runs r = 0, 1 are weights 4 * quad[r] .. 4 * (quad[r] + kQuads) - 1 of the row: w = scale[r] * q + offset[r].
template <int kQuads>
struct Slice {
    std::uint32_t q[2][kQuads];
    float scale[2];
    float offset[2];
    int quad[2];
};

/// Any type: half a group of 32 a lane. Block: as in kernels/blocks.h
template <class Block>
struct Slices {
    static constexpr int kQuads = 2;
    static constexpr int kPerGroup = 2;
    static __device__ Slice<kQuads> load(const std::byte* row, int index)
    {
        const int group = index / 2;
        const int first = index % 2 * 4;  // quad of the group
        Slice<kQuads> s;
        for (int r = 0; r < 2; ++r) {
            s.quad[r] = 8 * group + first + 2 * r;
            for (int i = 0; i < kQuads; ++i) {
                const Four w = four_of_row<Block>(row, group, first + 2 * r + i);
                s.q[r][i] = w.q;
                s.scale[r] = w.scale;  // of 16 weights: the same for all four quads
                s.offset[r] = w.offset;
            }
        }
        return s;
    }
};

/// Eight bytes of nibbles: the low halves are one run, the high ones another, 16 weights on.
template <>
struct Slices<BlockQ4_0> {
    static constexpr int kQuads = 2;
    static constexpr int kPerGroup = 2;
    static __device__ Slice<kQuads> load(const std::byte* row, int index)
    {
        const BlockQ4_0& b = reinterpret_cast<const BlockQ4_0*>(row)[index / 2];
        const int first = index % 2 * 2;
        Slice<kQuads> s;
        s.scale[0] = s.scale[1] = half_to_float(b.scale);
        s.offset[0] = s.offset[1] = 0.0f;
        s.quad[0] = index / 2 * 8 + first;
        s.quad[1] = s.quad[0] + 4;
        for (int i = 0; i < kQuads; ++i) {
            const std::uint32_t bytes = load4(b.nibbles + 4 * (first + i));
            s.q[0][i] = minus(bytes & 0x0f0f0f0fu, 8);
            s.q[1][i] = minus(bytes >> 4 & 0x0f0f0f0fu, 8);
        }
        return s;
    }
};

// Q4_K and Q5_K: sixteen bytes of nibbles in one load; the low halves belong to one group of 32, the high ones to the
// next. The 16 bytes of scales and mins are one load that eight lanes share.
template <class Block>
__device__ inline Slice<4> load_k_slice(const Block& b, int block_index, int part)
{
    const int pair = part / 2;  // groups 2 * pair and 2 * pair + 1
    const int half = part % 2;  // of their weights
    const uint4 head = *reinterpret_cast<const uint4*>(&b);
    const float scale = half_to_float(std::uint16_t(head.x));
    const float min_scale = half_to_float(std::uint16_t(head.x >> 16));
    const std::uint32_t packed[3] = {head.y, head.z, head.w};
    const auto byte = [&](int i) { return int(packed[i / 4] >> (8 * (i % 4)) & 255u); };
    Slice<4> s;
    for (int r = 0; r < 2; ++r) {
        const int group = 2 * pair + r;
        const int group_scale = group < 4 ? byte(group) & 63 : (byte(group + 4) & 15) | byte(group - 4) >> 6 << 4;
        const int group_min = group < 4 ? byte(group + 4) & 63 : byte(group + 4) >> 4 | byte(group) >> 6 << 4;
        s.scale[r] = scale * float(group_scale);
        s.offset[r] = -min_scale * float(group_min);
        s.quad[r] = block_index * 64 + group * 8 + half * 4;
    }
    const uint4 nibbles = reinterpret_cast<const uint4*>(b.nibbles)[part];
    const std::uint32_t words[4] = {nibbles.x, nibbles.y, nibbles.z, nibbles.w};
    for (int i = 0; i < 4; ++i) {
        s.q[0][i] = words[i] & 0x0f0f0f0fu;
        s.q[1][i] = words[i] >> 4 & 0x0f0f0f0fu;
    }
    return s;
}

template <>
struct Slices<BlockQ4_K> {
    static constexpr int kQuads = 4;
    static constexpr int kPerGroup = 1;
    static __device__ Slice<kQuads> load(const std::byte* row, int index)
    {
        return load_k_slice(reinterpret_cast<const BlockQ4_K*>(row)[index / 8], index / 8, index % 8);
    }
};

template <>
struct Slices<BlockQ5_K> {
    static constexpr int kQuads = 4;
    static constexpr int kPerGroup = 1;
    static __device__ Slice<kQuads> load(const std::byte* row, int index)
    {
        const BlockQ5_K& b = reinterpret_cast<const BlockQ5_K*>(row)[index / 8];
        const int part = index % 8;
        Slice<kQuads> s = load_k_slice(b, index / 8, part);
        const uint4 fifths = reinterpret_cast<const uint4*>(b.high)[part % 2];
        const std::uint32_t words[4] = {fifths.x, fifths.y, fifths.z, fifths.w};
        for (int r = 0; r < 2; ++r)
            for (int i = 0; i < 4; ++i)
                s.q[r][i] |= (words[i] >> (part / 2 * 2 + r) & 0x01010101u) << 4;
        return s;
    }
};

/// Eight bytes of nibbles and the eight bytes of their high bits: two runs, 64 weights apart.
template <>
struct Slices<BlockQ6_K> {
    static constexpr int kQuads = 2;
    static constexpr int kPerGroup = 2;
    static __device__ Slice<kQuads> load(const std::byte* row, int index)
    {
        const BlockQ6_K& b = reinterpret_cast<const BlockQ6_K*>(row)[index / 16];
        const int half = index % 16 / 8;  // of the block: 128 weights
        const int part = index % 8 / 4;   // 32 bytes of nibbles
        const int first = index % 4 * 2;  // quad within
        const float scale = half_to_float(b.scale);
        Slice<kQuads> s;
        for (int r = 0; r < 2; ++r) {
            const int sub = 4 * half + part + 2 * r;
            s.scale[r] = scale * float(b.scales[2 * sub + first / 4]);
            s.offset[r] = 0.0f;
            s.quad[r] = index / 16 * 64 + sub * 8 + first;
        }
        for (int i = 0; i < kQuads; ++i) {
            const std::uint32_t low = load4(b.low + 64 * half + 32 * part + 4 * (first + i));
            const std::uint32_t high = load4(b.high + 32 * half + 4 * (first + i)) >> (2 * part);
            s.q[0][i] = minus((low & 0x0f0f0f0fu) | (high & 0x03030303u) << 4, 32);
            s.q[1][i] = minus((low >> 4 & 0x0f0f0f0fu) | (high >> 4 & 0x03030303u) << 4, 32);
        }
        return s;
    }
};

/// Types whose weights are scale * q alone.
template <class Block>
constexpr bool kHasOffset = false;
template <>
inline constexpr bool kHasOffset<BlockQ4_1> = true;
template <>
inline constexpr bool kHasOffset<BlockQ5_1> = true;
template <>
inline constexpr bool kHasOffset<BlockQ2_K> = true;
template <>
inline constexpr bool kHasOffset<BlockQ4_K> = true;
template <>
inline constexpr bool kHasOffset<BlockQ5_K> = true;

}  // namespace kernels::cuda
