// Multiplies the offsets of packed weights with the sums of the activations which they apply to, before a thread block
// multiplies the weights themselves. Offsets and sums are floats, one for each 16 or 32 weights: tensor cores multiply
// each as two halves, 22 bits of it.
#pragma once

#include "kernels/cpu/q8_layout.h"
#include "kernels/cuda/matmul_tiles.cuh"
#include "kernels/cuda/matmul_work.cuh"
#include "kernels/cuda/split_floats.cuh"

namespace kernels::cuda {

/// Holds 32 offsets of each row and 32 sums of each token in shared memory, split.
struct OffsetStage {
    __align__(16) std::uint16_t rows[kMatmulRows * kHalvesPitch];
    std::uint16_t rows_lost[kMatmulRows * kHalvesPitch];
    std::uint16_t tokens[kMatmulTokens * kHalvesPitch];
    std::uint16_t tokens_lost[kMatmulTokens * kHalvesPitch];
    float row_scale[kMatmulRows], token_scale[kMatmulTokens];  // what the halves are multiplied by
};

__device__ inline void put_split(std::uint16_t* kept, std::uint16_t* lost, float* scale, int row,
                                 const float (&values)[8])
{
    const float to_halves = scale_to_halves(largest_of_row(values));
    const SplitFloats s = split(values, to_halves, 1.0f);
    put_eight(kept, row, quarter_of_row(), s.kept);
    put_eight(lost, row, quarter_of_row(), s.lost);
    if (quarter_of_row() == 0)
        scale[row] = inverse_of(to_halves);
}

/// A thread's share of the offsets and sums: eight of a row, and of the activations of two tokens.
template <class Block>
class Offsets
{
public:
    // Rows beyond the matrix are read as its last one, tokens that there are not as the first row of activations, and
    // nothing comes of them.
    __device__ Offsets(const MatmulArguments& a, const MatmulWork& work, const std::byte* x, int first_row)
        : count_(unsigned(a.n) / kWeights)
        , weights_(work.weights + std::size_t(min(first_row + row(), a.rows - 1)) * a.row_bytes)
    {
        const kernels::Q8Layout at(a.n);
        for (int i = 0; i < kTokens; ++i)
            sums_[i] = x + std::size_t(max(rows_of(a, work, token(i)).x, 0)) * a.x_stride +
                       (kScaleOf16<Block> ? at.sum16 : at.sum32);
    }
    __device__ unsigned count() const { return count_; }

    /// Writes 32 offsets of all rows and sums of all tokens, from `first` on.
    __device__ void put(OffsetStage& to, unsigned first) const
    {
        const unsigned eighth = first / 8 + unsigned(quarter_of_row());
        float values[8];
        take_offsets(eighth, values);
        put_split(to.rows, to.rows_lost, to.row_scale, row(), values);
#pragma unroll
        for (int t = 0; t < kTokens; ++t) {
            take_sums(sums_[t], eighth, values);
            put_split(to.tokens, to.tokens_lost, to.token_scale, token(t), values);
        }
    }

private:
    static constexpr unsigned kWeights = kScaleOf16<Block> ? 16 : 32;  // to an offset
    static constexpr int kTokens = 4 * kMatmulTokens / kMatmulThreads;
    static_assert(kMatmulThreads == 4 * kMatmulRows);

    static __device__ int row()
    {
        return int(threadIdx.x) / 4;
    }
    static __device__ int token(int i)
    {
        return row() + i * (kMatmulThreads / 4);
    }

    /// Where blocks are of several groups, eight offsets are all there or none of them.
    __device__ bool inside(unsigned eighth, unsigned i) const
    {
        return 8 * eighth + (kBlockGroups<Block> == 1 ? i : 0) < count_;
    }
    __device__ void take_offsets(unsigned eighth, float (&values)[8]) const
    {
#pragma unroll
        for (unsigned i = 0; i < 8; ++i) {
            const unsigned group = (8 * eighth + i) * kWeights / 32;
            const int half = int((8 * eighth + i) * kWeights / 16 % 2);
            const int sub = int(group % kBlockGroups<Block>);
            const Block& block = reinterpret_cast<const Block*>(weights_)[group / kBlockGroups<Block>];
            values[i] = 0.0f;
            if (inside(eighth, i))
                values[i] = Pieces<Block>::unpack(Pieces<Block>::read(block, sub, half), block, sub, half).offset;
        }
    }
    __device__ void take_sums(const std::byte* sums, unsigned eighth, float (&values)[8]) const
    {
        const float* eight = reinterpret_cast<const float*>(sums) + 8 * eighth;
#pragma unroll
        for (unsigned i = 0; i < 8; ++i)
            values[i] = inside(eighth, i) ? eight[i] : 0.0f;
    }

    unsigned count_;
    const std::byte* weights_;
    const std::byte* sums_[kTokens];
};

/// Adds the products of what is in shared memory to a warp's sums.
template <class Block>
__device__ inline void multiply_offsets(const OffsetStage& stage, const WarpTiles<Block>& tiles, TileSums<Block>& sums)
{
    const auto eight_of = [](const std::uint16_t* rows, int row, int k) { return rows + row * kHalvesPitch + k; };
#pragma unroll
    for (int p = 0; p < kPairs<Block>; ++p) {
        if (p >= tiles.pairs)
            break;  // the whole warp
        const int first = tiles.token(p);
        float products[2][kRowTiles<Block>][4] = {};
#pragma unroll
        for (int k = 0; k < kSharedScale; k += 16) {
            const int token = first + lane() / 16 * 8 + lane() % 8;
            std::uint32_t x[4];
            std::uint32_t x_lost[4];
            load_matrices(x, eight_of(stage.tokens, token, k + lane() / 8 % 2 * 8));
            load_matrices(x_lost, eight_of(stage.tokens_lost, token, k + lane() / 8 % 2 * 8));
#pragma unroll
            for (int i = 0; i < kRowTiles<Block>; ++i) {
                const int row = tiles.row + 16 * i + lane() % 16;
                std::uint32_t w[4];
                std::uint32_t w_lost[4];
                load_matrices(w, eight_of(stage.rows, row, k + lane() / 16 * 8));
                load_matrices(w_lost, eight_of(stage.rows_lost, row, k + lane() / 16 * 8));
#pragma unroll
                for (int t = 0; t < 2; ++t) {
                    const std::uint32_t of_tile[2] = {x[2 * t], x[2 * t + 1]};
                    const std::uint32_t of_tile_lost[2] = {x_lost[2 * t], x_lost[2 * t + 1]};
                    multiply_halves(products[t][i], w_lost, of_tile);
                    multiply_halves(products[t][i], w, of_tile_lost);
                    multiply_halves(products[t][i], w, of_tile);
                }
            }
        }
#pragma unroll
        for (int i = 0; i < 8 * kRowTiles<Block>; ++i) {
            const int t = i / 4 % 2;
            const float scale = stage.row_scale[tiles.row + 16 * (i / 8) + lane() / 4 + i % 4 / 2 * 8] *
                                stage.token_scale[first + 8 * t + lane() % 4 * 2 + i % 2];
            sums[p][t][i / 8][i % 4] += products[t][i / 8][i % 4] * scale;
        }
    }
}

/// Adds the products of all offsets to a warp's sums. x: the activations of the tokens' first row. All threads of the
/// block call it; what is in shared memory may be overwritten when it returns.
template <class Block>
__device__ inline void add_offsets(const MatmulArguments& a, const MatmulWork& work, const std::byte* x, int first_row,
                                   OffsetStage& stage, const WarpTiles<Block>& tiles, TileSums<Block>& sums)
{
    const Offsets<Block> offsets(a, work, x, first_row);
    for (unsigned first = 0; first < offsets.count(); first += kSharedScale) {
        offsets.put(stage, first);
        __syncthreads();
        multiply_offsets<Block>(stage, tiles, sums);
        __syncthreads();
    }
}

}  // namespace kernels::cuda
