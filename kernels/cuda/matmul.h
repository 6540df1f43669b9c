// Declares what the products of many tokens and their launcher agree on.
#pragma once

#include "kernels/cuda/matvec.h"

namespace kernels::cuda {

constexpr int kMatmulRows = 64;     // weight rows that a thread block takes
constexpr int kMatmulTokens = 128;  // tokens
constexpr int kMatmulThreads = 256;

/// Shared memory of a thread block that multiplies packed weights: two steps' bytes and scales, the rows of the tokens'
/// results, and what products start with. offsets_of_16: the type has an offset for each 16 weights
constexpr unsigned matmul_shared_bytes(bool offsets_of_16)
{
    constexpr int kStepBytes = 64;
    const int scales = offsets_of_16 ? 8 : 4;
    return 2u * unsigned((kMatmulRows + kMatmulTokens) * (kStepBytes + 4 * scales)) + 4u * unsigned(kMatmulTokens + 4);
}

using MatmulArguments = MatvecArguments;

}  // namespace kernels::cuda
