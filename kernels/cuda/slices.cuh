// Reads a lane's share of a row of packed weights for integer products: 32 weights at a time, a slice, as two runs of
// 16. The bytes lie in shared memory, where a warp has copied a step of them: 32 slices, which follow each other in the
// row. Blocks lie there as in the file, at the addresses' remainders by 16 that they have in the device's memory.
#pragma once

#include "kernels/cuda/unpack.cuh"

#include <cstddef>

namespace kernels::cuda {

/// A run's weights are scale * (q - centre) + offset: the centre, and whether there are offsets, are the type's.
struct Slice {
    std::uint32_t q[2][4];
    float scale[2];
    float offset[2];
};

// What Slices<Block> has for each type:
//
//   take(step, lane)  the lane's slice; step: where the step's bytes begin
//   first(lane)       where in the step's 1024 weights the first run begins: a multiple of 16
//   kApart            weights from there to the second run
//   kOneGroup         both runs are of the same 32 weights, and have one scale and one offset
//   kCentre           0 or a power of two
//   kByTables         it takes more registers than others
template <class Block>
struct Slices;

template <class Block>
constexpr int kSliceStep = int(sizeof(Block)) * 32 / kBlockGroups<Block>;  // bytes

template <class Block>
__device__ inline const Block& block_of(const std::byte* step, unsigned lane)
{
    return reinterpret_cast<const Block*>(step)[lane / kBlockGroups<Block>];
}

/// For types whose slice is a group of 32.
struct WholeGroups {
    static constexpr int kApart = 16;
    static constexpr bool kOneGroup = true;
    static constexpr int kCentre = 0;
    static constexpr bool kByTables = false;
    static __device__ unsigned first(unsigned lane) { return 32 * lane; }
};

/// Serves the types that few models come in, and those whose bytes are indexes into a large table of weights.
template <class Block>
struct Slices : WholeGroups {
    static constexpr bool kOneGroup = false;
    static constexpr bool kByTables = true;
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const Block& b = block_of<Block>(step, lane);
        Slice s;
#pragma unroll
        for (int j = 0; j < 8; ++j) {
            const Four w = four(b, int(lane % kBlockGroups<Block>), j);
            s.q[j / 4][j % 4] = w.q;
            s.scale[j / 4] = w.scale;  // of 16 weights
            s.offset[j / 4] = w.offset;
        }
        return s;
    }
};

// ---- blocks of 32 ----

__device__ inline void set_scale(Slice& s, float scale, float offset = 0.0f)
{
    s.scale[0] = s.scale[1] = scale;
    s.offset[0] = s.offset[1] = offset;
}

/// Sets quad i of both runs: to the low halves of the bytes in the first run, to the high ones in the second.
__device__ inline void put_nibbles(Slice& s, int i, std::uint32_t bytes)
{
    s.q[0][i] = bytes & 0x0f0f0f0fu;
    s.q[1][i] = bytes >> 4 & 0x0f0f0f0fu;
}

/// Does the same where nibbles are indexes into a table of 16 weights.
__device__ inline void put_looked_up(Slice& s, int i, ByteTable table, std::uint32_t nibbles)
{
    const TwoQuads quads = look_up(table, nibbles);
    s.q[0][i] = quads.low;
    s.q[1][i] = quads.high;
}

/// Adds the fifth bits to all quads: bit 4 i + k is that of weight k of quad i.
__device__ inline void put_fifths(Slice& s, std::uint32_t bits)
{
#pragma unroll
    for (int i = 0; i < 8; ++i)
        s.q[i / 4][i % 4] |= spread_bits(bits >> (4 * i)) << 4;
}

/// Returns the lower half of a word that holds a scale and a min, or two scales.
__device__ inline float low_half(std::uint32_t word)
{
    return half_to_float(std::uint16_t(word));
}
__device__ inline float high_half(std::uint32_t word)
{
    return half_to_float(std::uint16_t(word >> 16));
}

template <>
struct Slices<BlockQ4_0> : WholeGroups {
    static constexpr int kCentre = 8;
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockQ4_0& b = block_of<BlockQ4_0>(step, lane);
        std::uint32_t words[4];
        AnyBytes(b.nibbles).take(words, 0);
        Slice s;
        set_scale(s, half_to_float(b.scale));
#pragma unroll
        for (int i = 0; i < 4; ++i)
            put_nibbles(s, i, words[i]);
        return s;
    }
};

template <>
struct Slices<BlockQ4_1> : WholeGroups {
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const auto* words = reinterpret_cast<const std::uint32_t*>(&block_of<BlockQ4_1>(step, lane));
        Slice s;
        set_scale(s, low_half(words[0]), high_half(words[0]));
#pragma unroll
        for (int i = 0; i < 4; ++i)
            put_nibbles(s, i, words[1 + i]);
        return s;
    }
};

template <>
struct Slices<BlockQ5_0> : WholeGroups {
    static constexpr int kCentre = 16;
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockQ5_0& b = block_of<BlockQ5_0>(step, lane);
        std::uint32_t words[4];
        AnyBytes(b.nibbles).take(words, 0);
        Slice s;
        set_scale(s, half_to_float(b.scale));
#pragma unroll
        for (int i = 0; i < 4; ++i)
            put_nibbles(s, i, words[i]);
        put_fifths(s, load4(b.high));
        return s;
    }
};

template <>
struct Slices<BlockQ5_1> : WholeGroups {
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const auto* pairs = reinterpret_cast<const uint2*>(&block_of<BlockQ5_1>(step, lane));
        const uint2 head = pairs[0];
        Slice s;
        set_scale(s, low_half(head.x), high_half(head.x));
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const uint2 nibbles = pairs[1 + i];
            put_nibbles(s, 2 * i, nibbles.x);
            put_nibbles(s, 2 * i + 1, nibbles.y);
        }
        put_fifths(s, head.y);
        return s;
    }
};

template <>
struct Slices<BlockQ8_0> : WholeGroups {
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockQ8_0& b = block_of<BlockQ8_0>(step, lane);
        const AnyBytes bytes(b.q);
        Slice s;
        set_scale(s, half_to_float(b.scale));
        bytes.take(s.q[0], 0);
        bytes.take(s.q[1], 16);
        return s;
    }
};

template <>
struct Slices<BlockIQ4_NL> : WholeGroups {
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockIQ4_NL& b = block_of<BlockIQ4_NL>(step, lane);
        std::uint32_t words[4];
        AnyBytes(b.nibbles).take(words, 0);
        Slice s;
        set_scale(s, half_to_float(b.scale));
#pragma unroll
        for (int i = 0; i < 4; ++i)
            put_looked_up(s, i, kIq4Table, words[i]);
        return s;
    }
};

template <>
struct Slices<BlockMXFP4> : WholeGroups {
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockMXFP4& b = block_of<BlockMXFP4>(step, lane);
        std::uint32_t words[4];
        AnyBytes(b.nibbles).take(words, 0);
        Slice s;
        set_scale(s, mxfp4_scale(b.exponent));
#pragma unroll
        for (int i = 0; i < 4; ++i)
            put_looked_up(s, i, kMxfp4Table, words[i]);
        return s;
    }
};

/// Eight bytes are a group of 16: the low halves, then the high ones.
template <>
struct Slices<BlockNVFP4> : WholeGroups {
    static constexpr bool kOneGroup = false;
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockNVFP4& b = block_of<BlockNVFP4>(step, lane);
        const auto* words = reinterpret_cast<const std::uint32_t*>(b.nibbles) + lane % 2 * 4;
        Slice s;
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            s.scale[r] = nvfp4_scale(b.scales[lane % 2 * 2 + unsigned(r)]);
            s.offset[r] = 0.0f;
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const TwoQuads quads = look_up(kMxfp4Table, words[2 * r + i]);
                s.q[r][i] = quads.low;
                s.q[r][i + 2] = quads.high;
            }
        }
        return s;
    }
};

// ---- blocks of 256 ----

// For Q4_K and Q5_K: the low halves of sixteen bytes belong to one group of 32, the high ones to the next. Scales and
// mins of groups 0..3 have their six bits in one byte, those of groups 4..7 in two. They are read without a branch,
// since the lanes of a warp would go both ways.
struct KSlices {
    static constexpr int kApart = 32;
    static constexpr bool kOneGroup = false;
    static constexpr int kCentre = 0;
    static constexpr bool kByTables = false;
    static __device__ unsigned first(unsigned lane) { return lane / 2 * 64 + lane % 2 * 16; }
    static __device__ void put_scales(Slice& s, const uint4& head, unsigned lane)
    {
        const bool late = lane % 8 >= 4;
        const unsigned place = lane / 2 % 2 * 16;  // of the pair of groups, in each word
        const unsigned down = place + (late ? 2 : 0);
        const std::uint32_t whole = late ? 0x3030u : 0x3f3fu;
        const std::uint32_t parts = late ? 0x0f0fu : 0u;
        const std::uint32_t last = head.w >> place;
        const std::uint32_t scales = (head.y >> down & whole) | (last & parts);
        const std::uint32_t mins = (head.z >> down & whole) | (last >> 4 & parts);
        const float scale = low_half(head.x);
        const float min_scale = -high_half(head.x);
        s.scale[0] = scale * float(scales & 255u);
        s.scale[1] = scale * float(scales >> 8);
        s.offset[0] = min_scale * float(mins & 255u);
        s.offset[1] = min_scale * float(mins >> 8);
    }
    static __device__ void put_sixteen(Slice& s, const uint4& nibbles)
    {
        put_nibbles(s, 0, nibbles.x);
        put_nibbles(s, 1, nibbles.y);
        put_nibbles(s, 2, nibbles.z);
        put_nibbles(s, 3, nibbles.w);
    }
};

template <>
struct Slices<BlockQ4_K> : KSlices {
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockQ4_K& b = block_of<BlockQ4_K>(step, lane);
        Slice s;
        put_scales(s, reinterpret_cast<const uint4&>(b), lane);
        put_sixteen(s, reinterpret_cast<const uint4*>(b.nibbles)[lane % 8]);
        return s;
    }
};

template <>
struct Slices<BlockQ5_K> : KSlices {
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockQ5_K& b = block_of<BlockQ5_K>(step, lane);
        Slice s;
        put_scales(s, reinterpret_cast<const uint4&>(b), lane);
        put_sixteen(s, reinterpret_cast<const uint4*>(b.nibbles)[lane % 8]);
        const uint4 fifths = reinterpret_cast<const uint4*>(b.high)[lane % 2];
        const std::uint32_t words[4] = {fifths.x, fifths.y, fifths.z, fifths.w};
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const std::uint32_t bits = words[i] >> (lane % 8 / 2 * 2);
            s.q[0][i] |= bits << 4 & 0x10101010u;
            s.q[1][i] |= bits << 3 & 0x10101010u;
        }
        return s;
    }
};

/// A byte of `low` has weights 64 apart, one of `high` also those 32 apart. Eight lanes a block: two halves of 128
/// weights, in each two times 32 bytes of `low`, sixteen of them a lane.
template <>
struct Slices<BlockQ6_K> {
    static constexpr int kApart = 64;
    static constexpr bool kOneGroup = false;
    static constexpr int kCentre = 32;
    static constexpr bool kByTables = false;
    static __device__ unsigned first(unsigned lane) { return lane / 4 * 128 + lane % 4 * 16; }
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockQ6_K& b = block_of<BlockQ6_K>(step, lane);
        const unsigned half = lane / 4 % 2;
        const AnyBytes bytes(&b);
        std::uint32_t low[4], high[4];
        bytes.take(low, offsetof(BlockQ6_K, low) + lane % 8 * 16);
        bytes.take(high, offsetof(BlockQ6_K, high) + half * 32 + lane % 2 * 16, lane / 2 % 2 * 2);
        const std::int8_t* scales = b.scales + half * 8 + lane % 4;
        const float scale = half_to_float(b.scale);
        Slice s;
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            s.scale[r] = scale * __int2float_rn(scales[4 * r]);
            s.offset[r] = 0.0f;
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            s.q[0][i] = (low[i] & 0x0f0f0f0fu) | (high[i] << 4 & 0x30303030u);
            s.q[1][i] = (low[i] >> 4 & 0x0f0f0f0fu) | (high[i] & 0x30303030u);
        }
        return s;
    }
};

/// For types where weights 32, 64 and 96 apart share a byte of q, which two lanes take.
struct PairSlices {
    static constexpr int kApart = 32;
    static constexpr bool kOneGroup = false;
    static constexpr int kCentre = 0;
    static constexpr bool kByTables = false;
    static __device__ unsigned first(unsigned lane) { return lane / 2 * 64 + lane % 2 * 16; }
    /// Returns which group of 16 weights of the block the lane's first run is in; the second run's is two further on.
    static __device__ unsigned group(unsigned lane) { return lane % 8 / 2 * 4 + lane % 2; }
    /// offset: of q in the block
    static __device__ void put_pairs(Slice& s, const AnyBytes& block, unsigned offset, unsigned lane)
    {
        std::uint32_t pairs[4];
        block.take(pairs, offset + lane % 8 / 4 * 32 + lane % 2 * 16, lane / 2 % 2 * 4);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            s.q[0][i] = pairs[i] & 0x03030303u;
            s.q[1][i] = pairs[i] >> 2 & 0x03030303u;
        }
    }
};

template <>
struct Slices<BlockQ2_K> : PairSlices {
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockQ2_K& b = block_of<BlockQ2_K>(step, lane);
        const std::uint32_t halves = reinterpret_cast<const std::uint32_t&>(b.scale);
        Slice s;
        put_pairs(s, AnyBytes(&b), offsetof(BlockQ2_K, q), lane);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const unsigned both = b.scales[group(lane) + unsigned(2 * r)];
            s.scale[r] = low_half(halves) * float(both & 15);
            s.offset[r] = -high_half(halves) * float(both >> 4);
        }
        return s;
    }
};

template <>
struct Slices<BlockQ3_K> : PairSlices {
    static constexpr int kCentre = 4;
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockQ3_K& b = block_of<BlockQ3_K>(step, lane);
        const float scale = half_to_float(b.scale);
        const AnyBytes bytes(&b);
        Slice s;
        put_pairs(s, bytes, offsetof(BlockQ3_K, q), lane);
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const unsigned g = group(lane) + unsigned(2 * r);
            const int low = b.scales[g % 8] >> (g / 8 * 4) & 15;
            const int high = b.scales[8 + g % 4] >> (g / 4 * 2) & 3;
            s.scale[r] = scale * float((low | high << 4) - 32);
            s.offset[r] = 0.0f;
        }
        std::uint32_t bits[4];
        bytes.take(bits, offsetof(BlockQ3_K, high) + lane % 2 * 16, lane % 8 / 2 * 2);
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            s.q[0][i] |= bits[i] << 2 & 0x04040404u;
            s.q[1][i] |= bits[i] << 1 & 0x04040404u;
        }
        return s;
    }
};

template <>
struct Slices<BlockTQ2_0> : PairSlices {
    static constexpr int kCentre = 1;
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockTQ2_0& b = block_of<BlockTQ2_0>(step, lane);
        Slice s;
        set_scale(s, half_to_float(b.scale));
        put_pairs(s, AnyBytes(&b), offsetof(BlockTQ2_0, q), lane);
        return s;
    }
};

/// Groups 0..4 have a trit of each byte of 32, 5..7 five trits of the 16 that follow; the last 16 weights are four
/// trits of four bytes.
template <>
struct Slices<BlockTQ1_0> : WholeGroups {
    static constexpr int kCentre = 1;
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockTQ1_0& b = block_of<BlockTQ1_0>(step, lane);
        const AnyBytes bytes(&b);
        const int group = int(lane % 8);
        constexpr unsigned kLast = offsetof(BlockTQ1_0, last) - 12;  // the fourth word; none is read beyond the block
        Slice s;
        set_scale(s, half_to_float(b.scale));
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const bool last = group == 7 && r == 1;
            bytes.take(s.q[r], last ? kLast : group < 5 ? unsigned(16 * r) : 32u);
            const std::uint32_t power = power_of_3(group < 5 ? group : 2 * group - 10 + r);
            const std::uint32_t four = s.q[r][3];
#pragma unroll
            for (int i = 0; i < 4; ++i)
                s.q[r][i] = trits4(last ? four : s.q[r][i], last ? power_of_3(i) : power);
        }
        return s;
    }
};

template <>
struct Slices<BlockIQ4_XS> : WholeGroups {
    static __device__ Slice take(const std::byte* step, unsigned lane)
    {
        const BlockIQ4_XS& b = block_of<BlockIQ4_XS>(step, lane);
        const uint2 head = reinterpret_cast<const uint2&>(b);
        const unsigned group = lane % 8;
        const int scale = int((head.y >> (4 * group) & 15u) | (head.x >> (16 + 2 * group) & 3u) << 4) - 32;
        Slice s;
        set_scale(s, low_half(head.x) * float(scale));
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const uint2 nibbles = reinterpret_cast<const uint2*>(b.nibbles)[2 * group + unsigned(i)];
            put_looked_up(s, 2 * i, kIq4Table, nibbles.x);
            put_looked_up(s, 2 * i + 1, kIq4Table, nibbles.y);
        }
        return s;
    }
};

/// Whether a type's weights have an offset. If not, they are scale * q.
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
