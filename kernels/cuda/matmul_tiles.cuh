// Says which tiles of a product of packed weights each warp of a thread block computes.
#pragma once

#include "kernels/cuda/matmul.h"
#include "kernels/cuda/pieces.cuh"
#include "kernels/packed_types.h"

namespace kernels::cuda {

/// Types with a scale for each 16 weights, not 32.
template <class Block>
constexpr bool kScaleOf16 = false;
template <>
inline constexpr bool kScaleOf16<BlockQ2_K> = true;
template <>
inline constexpr bool kScaleOf16<BlockQ3_K> = true;
template <>
inline constexpr bool kScaleOf16<BlockQ6_K> = true;
template <>
inline constexpr bool kScaleOf16<BlockIQ2_XS> = true;
template <>
inline constexpr bool kScaleOf16<BlockIQ2_S> = true;
template <>
inline constexpr bool kScaleOf16<BlockIQ1_M> = true;
template <>
inline constexpr bool kScaleOf16<BlockNVFP4> = true;

/// A warp multiplies this many tiles of 16 rows, and pairs of tiles of 8 tokens. The wider it is, the fewer bytes come
/// from shared memory for each product; types with scales of 16 have no registers for two tiles of rows.
template <class Block>
constexpr int kRowTiles = kScaleOf16<Block> ? 1 : 2;
template <class Block>
constexpr int kRowWarps = kMatmulRows / (16 * kRowTiles<Block>);
template <class Block>
constexpr int kTokenWarps = kMatmulThreads / kWarp / kRowWarps<Block>;
template <class Block>
constexpr int kPairs = kMatmulTokens / (16 * kTokenWarps<Block>);

/// How many tokens lie between the beginnings of two neighbouring pairs of a warp.
template <class Block>
constexpr int kPairsApart = 16 * kTokenWarps<Block>;

/// A warp's place in the thread block.
template <class Block>
struct WarpTiles {
    int row = warp() % kRowWarps<Block> * 16 * kRowTiles<Block>;  // its first
    int first_pair = of_first_lane(warp() / kRowWarps<Block>);
    int pairs;  // that have tokens

    __device__ explicit WarpTiles(int tokens)
        : pairs(of_first_lane((tokens + kPairsApart<Block> - 16 * first_pair - 1) / kPairsApart<Block>))
    {
    }
    /// Returns the first token of a pair. Warps take pairs in turns, so that more of them have work where tokens are
    /// few.
    __device__ int token(int pair) const { return 16 * first_pair + kPairsApart<Block> * pair; }
};

/// A warp's sums: of each pair, its two tiles of tokens, and each tile of rows what multiply_bytes has in c.
template <class Block>
using TileSums = float[kPairs<Block>][2][kRowTiles<Block>][4];

}  // namespace kernels::cuda
