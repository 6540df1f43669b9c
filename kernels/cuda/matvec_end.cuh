// Does at the end of products of one token what the next operation would need a launch of its own for.
#pragma once

#include "kernels/cuda/last_block.cuh"
#include "kernels/cuda/matvec.cuh"
#include "kernels/cuda/next_read.cuh"
#include "kernels/cuda/prepare_heads.cuh"
#include "kernels/cuda/rms_norm.cuh"

namespace kernels::cuda {

/// Returns the number of the head, as prepare_head() counts them, that has a column of the queries' row; -1: none has.
__device__ inline int head_of_column(const PrepareArguments& a, int column)
{
    const int k = column - int(a.k - a.q);
    const int v = column - int(a.v - a.q);
    if (column < a.heads * a.layout.k_dim)
        return column / a.layout.k_dim;
    if (k >= 0 && k < a.kv_heads * a.layout.k_dim)
        return a.heads + k / a.layout.k_dim;
    return v >= 0 && v < a.kv_heads * a.layout.v_dim ? a.heads + a.kv_heads + v / a.layout.v_dim : -1;
}

/// Does the end's part for the thread block that has written rows [first, first + kMatvecWarps) of `out`, which has
/// `rows`. values: room for the longest head in shared memory
__device__ CALLED inline void end_matvec(const MatvecEnd& end, const float* out, int rows, int first, float* values)
{
    wait_for_copies<0>();  // `values` lies where copies go
    if (end.norm.weight) {
        ask_for_next(end.next, blockIdx.x);
        if (is_last_block(end.counters, gridDim.x))
            norm_row<kMatvecWarps * kWarp>(out, rows, end.norm);
        return;
    }
    const PrepareArguments& heads = end.heads;
    const int head = head_of_column(heads, int(out - heads.q) + first);
    if (head < 0)
        return;  // the whole thread block
    const int length = head < heads.heads + heads.kv_heads ? heads.layout.k_dim : heads.layout.v_dim;
    if (is_last_block(end.counters + head, unsigned(length / kMatvecWarps)) && warp() == 0)
        prepare_head(heads, head, 0, values, [] {});
}

/// Does the same for the part that this thread block has multiplied.
__device__ inline void end_matvec(const MatvecEnd& end, const PartOfLaunch& of, float* values)
{
    end_matvec(end, of.a.out, of.a.rows, of.block * kMatvecWarps, values);
}

}  // namespace kernels::cuda
