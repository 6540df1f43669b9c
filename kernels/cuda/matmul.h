// Declares what the products of many tokens and their launcher agree on.
#pragma once

#include "kernels/cuda/matvec.h"

namespace kernels::cuda {

constexpr int kMatmulRows = 64;     // weight rows that a thread block takes
constexpr int kMatmulTokens = 128;  // tokens
constexpr int kMatmulThreads = 256;

/// Shared memory of a thread block that multiplies packed weights: 32 offsets of each row and 32 sums of each token,
/// 164 bytes as two halves each and a scale, or two steps' bytes and scales, which take less; and with them the rows of
/// the tokens' results and what products start with.
constexpr unsigned kMatmulSharedBytes = (kMatmulRows + kMatmulTokens) * 164 + 4 * (kMatmulTokens + 4);

using MatmulArguments = MatvecArguments;

}  // namespace kernels::cuda
