// Declares what the attention kernels and their launchers agree on.
#pragma once

#include "kernels/kv_block.h"

#include <cstdint>

namespace kernels::cuda {

constexpr int kAttendThreads = 256;

/// Tokens that a row sees: so many, its own included, or its own and those since the last multiple of so many.
struct AttendWindow {
    int tokens;  // 0: all
    int chunks;  // not 0: since the last multiple
    constexpr int oldest_seen(int position) const
    {
        if (tokens == 0)
            return 0;
        if (chunks)
            return position / tokens * tokens;
        return position >= tokens ? position + 1 - tokens : 0;
    }
};

/// Attention of a few query rows over the KV blocks of one layer, block by block: the arguments of the kernels.
struct AttendArguments {
    KvBlockLayout layout;
    int kv_heads;
    int group;  // query heads that share a KV head
    const std::uint64_t* blocks;
    int begin, end;    // the KV blocks that this launch takes, of those that the rows see
    const int* first;  // the first row is token *first, the next *first + 1, ...
    AttendWindow window;

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
    const std::uint64_t* blocks;  // those that are 0 have no partial here
    const int* first;
    AttendWindow window;
    const float* sinks;  // (heads,) or null
    int max_blocks;
    const float* max;
    const float* sum;
    const float* partials;
    const float*
        host_partials;  // (rows, [max (heads,), sum (heads,), out (heads, v_dim)]) of all other blocks, or null
    float* out;         // (rows, heads, v_dim), row r at r * out_stride
    int out_stride;
};

/// Attention of many rows at once, without partials; fields as above.
struct AttendManyArguments {
    KvBlockLayout layout;
    int kv_heads;
    int group;
    int rows;
    const std::uint64_t* blocks;
    int begin, end;
    const int* first;
    AttendWindow window;
    const float* q;
    int q_stride;
    const float* q_scale;
    float softcap;
    const float* sinks;  // (heads,) or null
    float* state;        // (rows, heads, [max, sum, out (v_dim,)]) carried from launch to launch, or null
    int begins, ends;    // whether this is the first launch, and the last one
    float* out;          // (rows, heads, v_dim), row r at r * out_stride
    int out_stride;
};

constexpr int kAttendManyQueries = 64;                      // that a thread block takes: 16 a warp
constexpr int kAttendManyThreads = 2 * kAttendManyQueries;  // for heads longer than 256 twice as many

}  // namespace kernels::cuda
