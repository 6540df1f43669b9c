// Declares what the attention kernels and their launchers agree on.
#pragma once

#include "kernels/cuda/host_partials.h"
#include "kernels/cuda/next_read.h"
#include "kernels/cuda/rounded_rows.h"
#include "kernels/kv_block.h"

#include <cstdint>

namespace kernels::cuda {

constexpr int kAttendThreads = 128;
// Thread blocks on a multiprocessor: as many as leave each thread enough registers for the loads it has under way.
constexpr int kAttendBlocks = 4;
constexpr int kMergeThreads = 256;
constexpr int kMergeValues = 32;                                 // of a head, that a thread block joins
constexpr int kMergeSlots = kMergeThreads / (kMergeValues / 4);  // each adds up every kMergeSlots-th piece

/// Says which tokens a row sees: the last `tokens`, its own included; or with `chunks` those from the last multiple of
/// `tokens` up to its own.
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

/// Tokens of a piece, which is a part of a KV block whose attention is a partial result of its own: kPieceTokens where
/// a row sees few tokens, and up to kMostPieceTokens where it sees many.
constexpr int kPieceTokens = 64, kMostPieceTokens = 256;

/// The pieces of what a row sees. They become longer where there would be more than `many`, which are enough for the
/// multiprocessors of any device: each partial takes memory and has to be joined. The pieces depend only on what the
/// row sees, and so does the order of all additions.
struct SeenPieces {
    int tokens = kPieceTokens;  // of a piece
    int block_tokens;
    int shift = 0;   // a block has two to this power of numbers, of which the last ones may stand for no piece
    int begin, end;  // by number, from the conversation's first block on
    int first_slot;  // the number of its first block's first piece

    constexpr SeenPieces(int oldest, int seen, int block_tokens, int many)
        : block_tokens(block_tokens)
    {
        while (tokens < block_tokens && tokens < kMostPieceTokens && seen - oldest > many * tokens)
            tokens *= 2;
        while (tokens << shift < block_tokens)
            ++shift;
        begin = number_of(oldest);
        end = number_of(seen - 1) + 1;
        first_slot = first_of(oldest / block_tokens);
    }
    constexpr int first_of(int block) const { return block << shift; }
    constexpr int block_of(int piece) const { return piece >> shift; }
    /// Returns how many tokens of its block are before a piece; for a number that stands for no piece, all or more.
    constexpr int offset_of(int piece) const { return (piece & ((1 << shift) - 1)) * tokens; }
    constexpr int number_of(int token) const { return first_of(token / block_tokens) + token % block_tokens / tokens; }
    /// Returns the place of a piece's partial among those of its row.
    constexpr int slot(int piece) const { return piece - first_slot; }
};

/// Says how many partials a row has at most, and the longest of its pieces, whatever its window.
struct MostPieces {
    int count = 0;
    int tokens = kPieceTokens;
    constexpr MostPieces(int max_blocks, int block_tokens, int many)
    {
        for (;; tokens *= 2) {
            const bool longest = tokens >= block_tokens || tokens >= kMostPieceTokens;
            // A window begins and ends within blocks.
            const int blocks_of_many = many * tokens / block_tokens + 2;
            const int blocks = longest || blocks_of_many > max_blocks ? max_blocks : blocks_of_many;
            int pieces = blocks;
            for (int covered = tokens; covered < block_tokens; covered *= 2)
                pieces *= 2;
            count = pieces > count ? pieces : count;
            if (longest || blocks == max_blocks)
                return;
        }
    }
};

/// Says what a launch of attention ends with where it attends all that its rows see: the merge. It is done by the
/// thread block that is the last to end of those that share a row's heads.
struct AttendEnd {
    unsigned* counters;  // (rows, gridDim.x) zeros, which are zeros again behind the launch; null: it ends with nothing
    const float* sinks;  // as in MergeArguments
    float* out;
    int out_stride;
    RoundedRows rounded;
    NextRead next;
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

    // (rows, kv_heads * group, max_pieces) partials: largest score, sum of exponentials, and weighted values before
    // the division: (rows, max_pieces, kv_heads * group, v_dim)
    int many_pieces;   // see SeenPieces
    int piece_tokens;  // of the longest piece that there can be
    int max_pieces;
    float* max;
    float* sum;
    float* out;

    AttendEnd at_end;
};

/// Says where a thread block of attend_halves.cu has what in shared memory, in bytes. heads: that it takes; pass:
/// dimensions of the values that it adds up at a time
struct AttendHalvesShared {
    int unscale, v_scale, value_unit, weights, scores, bytes;
    int weights_stride;  // halves from one column to the next: 32 bytes further on in the banks
    int scores_stride;   // floats from one head to the next
    constexpr AttendHalvesShared(int k_dim, int piece_tokens, int heads, int pass)
        : unscale(2 * heads * k_dim * 2)
        , v_scale(unscale + heads * 4)
        , value_unit(v_scale + piece_tokens * 4)
        , weights(value_unit + 16)
        , scores(0)
        , bytes(0)
        , weights_stride(piece_tokens + 16)
        , scores_stride(piece_tokens + 8)
    {
        scores = weights + 2 * heads * weights_stride * 2;
        const int floats = scores_stride > kAttendThreads / 32 * pass ? scores_stride : kAttendThreads / 32 * pass;
        bytes = scores + heads * floats * 4;
    }
};

/// The arguments of the kernel that joins these partials.
struct MergeArguments {
    int block_tokens;
    int heads;
    int v_dim;
    const std::uint64_t* blocks;  // those that are 0 have no partial here
    const int* first;
    AttendWindow window;
    const float* sinks;  // (heads,) or null
    int many_pieces;
    int max_pieces;
    const float* max;
    const float* sum;
    const float* partials;
    const float* host_partials;  // (rows,) HostPartialsLayout of all other blocks, or null
    float* out;                  // (rows, heads, v_dim), row r at r * out_stride
    int out_stride;
    RoundedRows rounded;  // the same, where v_dim is a multiple of 32
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

/// How many queries a thread block of attend_many takes: 16 for each row of its warps. dim: of the kernel's heads
constexpr int attend_many_queries(int dim)
{
    return dim <= 256 ? 64 : 32;
}
constexpr int attend_many_threads(int dim)
{
    return dim <= 128 ? 128 : 256;
}

}  // namespace kernels::cuda
