// What the products of few tokens and their launcher agree on.
#pragma once

#include <cstddef>

namespace kernels::cuda {

constexpr int kMatvecWarps = 4;   // rows a thread block takes, a warp each
constexpr int kMatvecTokens = 8;  // tokens that share a reading of the weights

/// out[t][r] = sum over i of weights[r][i] * x[t][i], plus bias[r], plus what was there.
struct MatvecArguments {
    int n, rows, tokens;
    const std::byte* weights;
    std::size_t row_bytes;
    const std::byte* x;  // (tokens,) rows of x_stride bytes: floats, or 8-bit activations (kernels/cpu.h: Q8Row)
    std::size_t x_stride;
    const float* bias;  // (rows,) or null
    int accumulate;
    float* out;
    int out_stride;
};

}  // namespace kernels::cuda
