// Declares what the kernel that prepares heads for attention and its launcher agree on.
#pragma once

#include "kernels/kv_block.h"

#include <cstdint>

namespace kernels::cuda {

constexpr int kPrepareWarps = 4;   // heads that a thread block takes, a warp each
constexpr int kLongestHead = 576;  // that products of one token prepare

/// Heads are normed where there are weights for it, and queries and keys are turned; queries stay where they are, keys
/// and values go to their KV blocks.
struct PrepareArguments {
    KvBlockLayout layout;
    int heads, kv_heads;
    float* q;  // (rows, heads, k_dim), row r at r * stride
    float* k;  // (rows, kv_heads, k_dim)
    float* v;  // (rows, kv_heads, v_dim)
    int stride;
    const float *q_norm, *k_norm, *v_norm;  // (length,) weights, or null: these are not normed
    float epsilon;
    const float *cos, *sin;  // (rows, pairs)
    int pairs;               // of a head, that are turned
    int neox;                // pairs (i, i + pairs); else (2i, 2i + 1)
    const std::uint64_t* blocks;
    const int* first;
};

}  // namespace kernels::cuda
