// What the attention kernels and their launchers agree on.
#pragma once

#include "kernels/kv_block.h"

#include <cstdint>

namespace kernels::cuda {

constexpr int kAttendThreads = 256;

/// Attention of a few query rows over the KV blocks of one layer, block by block: the arguments of the kernels.
struct AttendArguments {
    KvBlockLayout layout;
    int kv_heads;
    int group;  // query heads that share a KV head
    const std::uint64_t* blocks;
    const int* first;  // the first row is token *first, the next *first + 1, ...
    int window;        // tokens that a row sees, its own included; 0: all

    const float* q;  // (rows, kv_heads * group, k_dim), row r at r * q_stride
    int q_stride;
    const float* q_scale;  // (rows,) factor on each row's queries
    float softcap;         // 0: none

    // (rows, max_blocks, kv_heads * group) partials: largest score, sum of exponentials, and weighted values before
    // the division: (rows, max_blocks, kv_heads * group, v_dim)
    int max_blocks;
    float* max;
    float* sum;
    float* out;
};

/// The merge of those partials.
struct MergeArguments {
    int block_tokens;
    int heads;
    int v_dim;
    const int* first;
    int window;
    const float* sinks;  // (heads,) or null
    int max_blocks;
    const float* max;
    const float* sum;
    const float* partials;
    float* out;  // (rows, heads, v_dim), row r at r * out_stride
    int out_stride;
};

/// Attention of many rows at once, without partials; fields as above.
struct AttendManyArguments {
    KvBlockLayout layout;
    int kv_heads;
    int group;
    int rows;
    const std::uint64_t* blocks;
    const int* first;
    int window;
    const float* q;
    int q_stride;
    const float* q_scale;
    float softcap;
    const float* sinks;  // (heads,) or null
    float* out;          // (rows, heads, v_dim), row r at r * out_stride
    int out_stride;
};

constexpr int kAttendManyQueries = 64;  // that a thread block takes: 16 a warp
constexpr int kAttendManyThreads = 2 * kAttendManyQueries;

}  // namespace kernels::cuda
