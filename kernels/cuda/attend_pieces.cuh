// Attends paged KV for a few rows: a thread block takes the query heads of one KV head and walks over pieces of KV
// blocks, reading each byte once for all of them. Each piece gives a partial of its own, so a result does not depend on
// how many thread blocks share the work; the launch ends with joining them, or merge_partials does it. Pieces are
// short, so that a short conversation gives the whole device something to do. Page table and length are device memory.
#pragma once

#include "kernels/cuda/attend.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/merge_at_end.cuh"
#include "kernels/cuda/reduce.cuh"

namespace kernels::cuda {

constexpr int kAttendWarps = kAttendThreads / kWarp;
static_assert(kPieceTokens == 16 * kAttendWarps);  // a warp takes the keys of 16 tokens at a time

/// Tokens [first, last) of the block column at `block` of one KV head; they lie within one piece from `begin` on.
struct Piece {
    const std::byte* block;
    int begin, first, last;
};

/// Says where a piece's partials for the heads of the thread block lie, from its first head on.
struct Partial {
    std::size_t of_sums, of_values;
};

/// Turns the scores of a head, capped if there is a soft cap, into weights exp(score - largest), by one warp.
/// score(token) says where a token's score is; put(token of the piece, weight) is called for those of [first, last).
/// max, sum: where those of the head go; null where there is no such head
template <class ScoreAt, class Put>
__device__ inline void weigh_head(const AttendArguments& a, const Piece& piece, float* max, float* sum,
                                  const ScoreAt& score, const Put& put)
{
    const int first = piece.first - piece.begin;
    const int last = piece.last - piece.begin;
    float largest = -INFINITY;
#pragma unroll 2
    for (int t = first + lane(); t < last; t += kWarp) {
        float& s = score(t);
        if (a.softcap > 0.0f)
            s = a.softcap * tanhf(s / a.softcap);
        largest = fmaxf(largest, s);
    }
    largest = warp_max(largest);
    float total = 0.0f;
#pragma unroll 2
    for (int t = first + lane(); t < last; t += kWarp) {
        const float weight = expf(score(t) - largest);
        total += weight;
        put(t, weight);
    }
    total = warp_sum(total);
    if (lane() == 0 && max) {
        *max = largest;
        *sum = total;
    }
}

/// Attends the pieces of a thread block's heads and row. grid: (kv_heads * ceil(group / heads), thread blocks that
/// share the pieces, rows). It calls prepare(queries of the first head, number of heads, the queries' factor), then
/// attend_piece(piece, number of heads, where its partial goes) for each piece. short_of_registers: the place of
/// partials is computed anew for each piece, and takes no registers while a piece is attended
template <int heads, bool short_of_registers, class Prepare, class AttendPiece>
__device__ inline void attend_pieces(const AttendArguments& a, const Prepare& prepare, const AttendPiece& attend_piece)
{
    const HeadsOfBlock own(a, heads, int(blockIdx.x));
    const int row = int(blockIdx.z);
    const int all_heads = a.kv_heads * a.group;

    let_next_begin();
    const int seen = *a.first + row + 1;
    const int oldest = a.window.oldest_seen(seen - 1);
    const SeenPieces pieces(oldest, seen, a.layout.tokens, a.many_pieces);
    const int first_piece = max(pieces.first_of(a.begin), pieces.first_slot) + int(blockIdx.y);
    const int end = min(pieces.first_of(min(a.end, (seen - 1) / a.layout.tokens + 1)), pieces.end);
    std::uint64_t column = first_piece < end ? a.blocks[pieces.block_of(first_piece)] : 0;

    const float scale = a.q_scale[row];
    wait_for_previous();
    prepare(a.q + std::size_t(row) * std::size_t(a.q_stride) + std::size_t(own.first * a.layout.k_dim), own.count,
            scale);
    __syncthreads();

#pragma unroll 1
    for (int p = first_piece; p < end; p += int(gridDim.y)) {
        const int block_start = pieces.block_of(p) * a.layout.tokens;
        const int begin = pieces.offset_of(p);
        const int first = max(begin, oldest - block_start);
        const int last = min(min(begin + pieces.tokens, a.layout.tokens), seen - block_start);
        if (first >= last)
            continue;  // no token of it is seen
        if (p != first_piece)
            column = a.blocks[pieces.block_of(p)];
        if (column == 0)
            continue;  // the host attends it
        const HeadsOfBlock of = short_of_registers ? HeadsOfBlock(a, heads, computed_anew(int(blockIdx.x))) : own;
        const auto heads_of_row = std::size_t(short_of_registers ? computed_anew(a.kv_heads) * a.group : all_heads);
        const auto row_pieces =
            std::size_t(short_of_registers ? computed_anew(int(blockIdx.z)) : row) * std::size_t(a.max_pieces);
        const auto slot = std::size_t(pieces.slot(p));
        const Partial partial{row_pieces * heads_of_row + std::size_t(of.first * a.max_pieces) + slot,
                              ((row_pieces + slot) * heads_of_row + std::size_t(of.first)) *
                                  std::size_t(a.layout.v_dim)};
        const std::byte* block =
            in_global_memory(reinterpret_cast<const std::byte*>(column) + std::size_t(of.kv_head) * a.layout.bytes());
        attend_piece(Piece{block, begin, first, last}, of.count, partial);
    }
    if (a.at_end.counters)
        merge_at_end(a, heads);
}

}  // namespace kernels::cuda
