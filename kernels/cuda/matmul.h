// Declares what the products of many tokens and their launcher agree on.
#pragma once

#include "kernels/cuda/matvec.h"

namespace kernels::cuda {

constexpr int kMatmulRows = 64;     // weight rows that a thread block takes
constexpr int kMatmulTokens = 128;  // tokens
constexpr int kMatmulThreads = 256;

/// Two steps' bytes and scales, of packed weights. offsets_of_16: of types with an offset for each 16 weights
constexpr unsigned matmul_shared_bytes(bool offsets_of_16)
{
    constexpr int kStepBytes = 64;
    const int scales = offsets_of_16 ? 8 : 4;
    return 2u * unsigned((kMatmulRows + kMatmulTokens) * (kStepBytes + 4 * scales)) + 4u * unsigned(kMatmulTokens);
}

using MatmulArguments = MatvecArguments;

}  // namespace kernels::cuda
