// Says what a thread block of products with many tokens multiplies: all of a matrix's tokens, or a head's, or the pairs
// of an expert.
#pragma once

#include "kernels/cuda/device.h"
#include "kernels/cuda/matmul.h"

namespace kernels::cuda {

struct MatmulWork {
    const std::byte* weights;
    const float* bias;
    float scale;
    std::size_t x, out;  // of the head: bytes from where activations begin, and floats from where results do
    int first, tokens;   // of the tokens, or of the expert's pairs; kMatmulTokens at most
};

/// block: of the grid's third dimension, the expert or the head
__device__ inline MatmulWork work_of(const MatmulArguments& a, int block = int(blockIdx.z))
{
    const auto matrix = std::size_t(block);
    int first = int(blockIdx.x) * kMatmulTokens;
    int end = a.tokens;
    if (a.expert.begin) {
        first += a.expert.begin[matrix];
        end = a.expert.begin[matrix + 1];
    }
    std::size_t offset = matrix * a.expert.bytes;
    if (a.expert.places) {
        offset = std::size_t(a.expert.places[matrix]);
        end = offset == 0 ? first : end;  // it is left out
    }
    return {in_global_memory(moved(a.weights, offset)),
            a.bias ? a.bias + matrix * std::size_t(a.rows) : nullptr,
            a.scale ? a.scale[matrix] : 1.0f,
            matrix * a.head.x,
            matrix * std::size_t(a.head.out),
            first,
            min(end - first, kMatmulTokens)};
}

/// Where a token's activations or results are; -1: there is no such token.
struct TokenRows {
    int x = -1, out = -1;
};
__device__ inline TokenRows rows_of(const MatmulArguments& a, const MatmulWork& work, int token)
{
    if (token >= work.tokens)
        return {};
    if (!a.expert.begin)
        return {work.first + token, work.first + token};
    const int pair = a.expert.sorted[work.first + token];
    return {pair / a.expert.pairs_of_each_row, pair};
}

}  // namespace kernels::cuda
