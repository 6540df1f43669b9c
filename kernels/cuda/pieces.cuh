// Reads 16 weights of a packed row for a thread's tensor-core products, in two stages: read() loads bytes, which may be
// under way while something else is computed, and unpack() makes weights of them. The types that most models come in
// are read in wide loads; for the others read() does all.
#pragma once

#include "kernels/cuda/slices.cuh"

namespace kernels::cuda {

/// w[i] = scale * q[i] + offset, signed bytes.
struct Piece {
    std::uint32_t q[4];
    float scale, offset;
};

/// Reads any type: piece `half` of group `sub` of 32 of a block. Block: as in kernels/blocks.h
template <class Block>
struct Pieces {
    using Read = Piece;
    static __device__ Read read(const Block& b, int sub, int half)
    {
        Piece p;
        for (int i = 0; i < 4; ++i) {
            const Four w = four(b, sub, 4 * half + i);
            p.q[i] = w.q;
            p.scale = w.scale;  // of 16 weights: the same for all
            p.offset = w.offset;
        }
        return p;
    }
    static __device__ Piece unpack(const Read& read, const Block&, int, int) { return read; }
};

__device__ inline std::uint32_t word_of(const uint4& v, int i)
{
    return i == 0 ? v.x : i == 1 ? v.y : i == 2 ? v.z : v.w;
}

/// Unpacks the scale and min of a group of Q4_K or Q5_K, without branches: the lanes of a warp have different groups.
__device__ inline void unpack_k_scales(const uint4& head, int sub, Piece& p)
{
    const int shift = 8 * (sub % 4);
    const std::uint32_t first = head.y >> shift;
    const std::uint32_t second = head.z >> shift;
    const std::uint32_t third = head.w >> shift;
    const bool high = sub >= 4;
    const std::uint32_t scale = high ? (third & 15u) | (first >> 2 & 48u) : first & 63u;
    const std::uint32_t min = high ? (third >> 4 & 15u) | (second >> 2 & 48u) : second & 63u;
    p.scale = half_to_float(std::uint16_t(head.x)) * float(scale);
    p.offset = -half_to_float(std::uint16_t(head.x >> 16)) * float(min);
}

template <>
struct Pieces<BlockQ4_K> {
    struct Read {
        uint4 head, nibbles;
    };
    static __device__ Read read(const BlockQ4_K& b, int sub, int half)
    {
        return {*reinterpret_cast<const uint4*>(&b), reinterpret_cast<const uint4*>(b.nibbles)[sub / 2 * 2 + half]};
    }
    static __device__ Piece unpack(const Read& read, const BlockQ4_K&, int sub, int)
    {
        Piece p;
        unpack_k_scales(read.head, sub, p);
        for (int i = 0; i < 4; ++i)
            p.q[i] = word_of(read.nibbles, i) >> (4 * (sub % 2)) & 0x0f0f0f0fu;
        return p;
    }
};

template <>
struct Pieces<BlockQ5_K> {
    struct Read {
        uint4 head, nibbles, fifths;
    };
    static __device__ Read read(const BlockQ5_K& b, int sub, int half)
    {
        return {*reinterpret_cast<const uint4*>(&b), reinterpret_cast<const uint4*>(b.nibbles)[sub / 2 * 2 + half],
                reinterpret_cast<const uint4*>(b.high)[half]};
    }
    static __device__ Piece unpack(const Read& read, const BlockQ5_K&, int sub, int)
    {
        Piece p;
        unpack_k_scales(read.head, sub, p);
        for (int i = 0; i < 4; ++i)
            p.q[i] = (word_of(read.nibbles, i) >> (4 * (sub % 2)) & 0x0f0f0f0fu) |
                     (word_of(read.fifths, i) >> sub & 0x01010101u) << 4;
        return p;
    }
};

template <>
struct Pieces<BlockQ6_K> {
    struct Read {
        AnyWords low, high;
        std::uint16_t scale;
        std::int8_t group_scale;
    };
    static __device__ Read read(const BlockQ6_K& b, int sub, int half)
    {
        return {read_any(b.low + 64 * (sub / 4) + 32 * (sub % 2) + 16 * half),
                read_any(b.high + 32 * (sub / 4) + 16 * half), b.scale, b.scales[2 * sub + half]};
    }
    static __device__ Piece unpack(const Read& read, const BlockQ6_K& b, int sub, int)
    {
        const unsigned beyond = beyond_words(b.low);
        const int part = sub % 4;
        Piece p;
        for (int i = 0; i < 4; ++i)
            p.q[i] = minus((read.low.word(i, beyond) >> (4 * (part / 2)) & 0x0f0f0f0fu) |
                               (read.high.word(i, beyond) >> (2 * part) & 0x03030303u) << 4,
                           32);
        p.scale = half_to_float(read.scale) * float(read.group_scale);
        p.offset = 0.0f;
        return p;
    }
};

template <>
struct Pieces<BlockQ8_0> {
    struct Read {
        AnyWords q;
        std::uint16_t scale;
    };
    static __device__ Read read(const BlockQ8_0& b, int, int half) { return {read_any(b.q + 16 * half), b.scale}; }
    static __device__ Piece unpack(const Read& read, const BlockQ8_0& b, int, int)
    {
        Piece p;
        for (int i = 0; i < 4; ++i)
            p.q[i] = read.q.word(i, beyond_words(b.q));
        p.scale = half_to_float(read.scale);
        p.offset = 0.0f;
        return p;
    }
};

template <>
struct Pieces<BlockQ4_0> {
    struct Read {
        AnyWords nibbles;
        std::uint16_t scale;
    };
    static __device__ Read read(const BlockQ4_0& b, int, int) { return {read_any(b.nibbles), b.scale}; }
    static __device__ Piece unpack(const Read& read, const BlockQ4_0& b, int, int half)
    {
        Piece p;
        for (int i = 0; i < 4; ++i)
            p.q[i] = minus(read.nibbles.word(i, beyond_words(b.nibbles)) >> (4 * half) & 0x0f0f0f0fu, 8);
        p.scale = half_to_float(read.scale);
        p.offset = 0.0f;
        return p;
    }
};

/// Nibbles that stand for the values of a table; `powers`: the scale is an exponent.
template <class Block, bool powers>
struct TablePieces {
    struct Read {
        AnyWords nibbles;
        std::uint16_t scale;
    };
    static __device__ Read read(const Block& b, int, int)
    {
        if constexpr (powers)
            return {read_any(b.nibbles), b.exponent};
        else
            return {read_any(b.nibbles), b.scale};
    }
    static __device__ Piece unpack(const Read& read, const Block& b, int, int half)
    {
        const unsigned beyond = beyond_words(b.nibbles);
        Piece p;
        for (int i = 0; i < 4; ++i)
            p.q[i] = look_up(powers ? kMxfp4Table : kIq4Table, read.nibbles.word(i, beyond), half);
        p.scale = powers ? mxfp4_scale(read.scale) : half_to_float(read.scale);
        p.offset = 0.0f;
        return p;
    }
};
template <>
struct Pieces<BlockIQ4_NL> : TablePieces<BlockIQ4_NL, false> {
};
template <>
struct Pieces<BlockMXFP4> : TablePieces<BlockMXFP4, true> {
};

template <>
struct Pieces<BlockIQ4_XS> {
    struct Read {
        uint2 head, nibbles[2];
    };
    static __device__ Read read(const BlockIQ4_XS& b, int sub, int)
    {
        const auto* pairs = reinterpret_cast<const uint2*>(&b);
        return {pairs[0], {pairs[1 + 2 * sub], pairs[2 + 2 * sub]}};
    }
    static __device__ Piece unpack(const Read& read, const BlockIQ4_XS&, int sub, int half)
    {
        Piece p;
        for (int i = 0; i < 4; ++i) {
            const uint2& pair = read.nibbles[i / 2];
            p.q[i] = look_up(kIq4Table, i % 2 == 0 ? pair.x : pair.y, half);
        }
        const std::uint32_t low = read.head.y >> (4 * sub) & 15u;
        const std::uint32_t high = read.head.x >> (16 + 2 * sub) & 3u;
        p.scale = half_to_float(std::uint16_t(read.head.x)) * float(int(low | high << 4) - 32);
        p.offset = 0.0f;
        return p;
    }
};

}  // namespace kernels::cuda
