// Declares what the products of few tokens and their launcher agree on.
#pragma once

#include "kernels/cuda/gating.h"
#include "kernels/cuda/next_read.h"
#include "kernels/cuda/norms.h"
#include "kernels/cuda/prepare_heads.h"
#include "kernels/cuda/rounded_rows.h"

#include <cstddef>
#include <cstdint>

namespace kernels::cuda {

constexpr int kMatvecWarps = 4;   // rows a thread block takes, a warp each
constexpr int kMatvecTokens = 8;  // tokens that share a reading of the weights

// Thread blocks that a multiprocessor holds at once, which decides how many registers a thread may have: 64, or 80 for
// kernels that cannot do with so few. With the 32 warps an H100 takes the 4,096 rows that are usual in one go.
constexpr int kMatvecBlocks = 8;
constexpr int kWideMatvecBlocks = 6;

constexpr int kFewRowsOfWarp = 2;  // rows a warp takes with more tokens than one, so that half as many warps will do
constexpr int kFewBlocks = 4;

/// Says which matrix and bias of a stack each token is multiplied with. A token is then a pair of a row of x and one of
/// the experts it goes to.
struct ExpertArguments {
    const int* chosen;  // (tokens,) each pair's expert, for products of few
    const int* sorted;  // (tokens,) pairs by expert, for products of many: pair sorted[i] is the i-th
    const int* begin;   // (experts + 1,) each expert's first in `sorted`
    std::size_t bytes;  // from one expert's, or head's, matrix to the next
    // (experts,) where each expert's matrices begin, or 0: its pairs are left out. Then `weights` is a number of bytes
    // from there. Null: matrices are in a stack
    const std::uint64_t* places;
    int pairs_of_each_row;  // pairs that share a row of x
};

/// Where each of several heads has a matrix of its own, a thread block's z is the head.
struct HeadArguments {
    std::size_t x;  // bytes from one head's activations to the next
    int out;        // floats from one head's results to the next
};

/// out[t][r] = scale times the sum over i of weights[r][i] * x[t][i], plus bias[r], plus what was there.
struct MatvecArguments {
    int n, rows, tokens;
    const std::byte* weights;
    std::size_t row_bytes;
    const std::byte* x;         // (tokens,) rows of x_stride bytes: floats, or 8-bit activations (kernels/cpu.h: Q8Row)
    const std::byte* residual;  // the same for what rounding lost, which is added; or null
    std::size_t x_stride;
    const float* scale;  // (1,), with experts or heads one for each, or null
    const float* bias;   // (rows,) or null
    int accumulate;
    float* out;
    int out_stride;
    ExpertArguments expert;  // null in it: there is one matrix, or one for each head
    HeadArguments head;      // 0: there is one head
};

constexpr int kMostParts = 3;

/// A further matrix, with rows of the same length, for the same tokens and activations. A launch's thread blocks from
/// `first_block` on multiply it.
struct MatvecPart {
    const std::byte* weights;
    std::size_t row_bytes;
    const float* scale;
    const float* bias;
    float* out;
    int rows;
    int first_block;
    int is_second_type;  // of a kernel for two
};
struct MatvecParts {
    int count;
    MatvecPart part[kMostParts];
};

/// Says what a launch for one token ends with. It is done by the thread block that is the last to write one of the
/// values which it needs.
struct MatvecEnd {
    unsigned* counters;      // zeros, which are zeros again after the launch; null: it ends with nothing
    NormOfRow norm;          // of the launch's only product
    NextRead next;           // with a norm
    PrepareArguments heads;  // where there is no norm: each head by itself, with a counter of its own
};

/// out[t][r] = gate of (weights times x[t])[r], times (up times x[t])[r], each times its scale and plus its bias.
struct GatedMatvecArguments {
    MatvecArguments gate;   // adds nothing to what was there
    const std::byte* up;    // as gate.weights; null in matvec8: these are products by themselves
    const float* up_scale;  // as gate.scale
    const float* up_bias;   // as gate.bias
    Gating gating;
    // Not for matvec8: where `out` is also written rounded, and for that (tokens, rows / 32) counters as in MatvecEnd
    RoundedRows rounded;
    unsigned* counters;
    NextRead next;  // not for matvec8
};

}  // namespace kernels::cuda
