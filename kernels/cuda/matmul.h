// Declares what the products of many tokens and their launcher agree on.
#pragma once

#include "kernels/cuda/matvec.h"

namespace kernels::cuda {

constexpr int kMatmulRows = 64;     // weight rows that a thread block takes
constexpr int kMatmulTokens = 128;  // tokens
constexpr int kMatmulThreads = 256;
constexpr int kMatmulSharedBytes =
    (kMatmulRows + kMatmulTokens) * (128 + 16) + 4 * (kMatmulRows * 16 + kMatmulTokens * 14);

using MatmulArguments = MatvecArguments;

}  // namespace kernels::cuda
