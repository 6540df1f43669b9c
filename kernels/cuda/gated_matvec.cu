// One token through both matrices of a gated feed-forward layer: a warp takes a row of the gates and the same row of
// the ups, and only what the gate lets through is written. The sums are those of matvec, in its order. The thread block
// that ends a group of 32 results rounds them.
#include "kernels/cuda/gates.cuh"
#include "kernels/cuda/last_block.cuh"
#include "kernels/cuda/matvec.cuh"
#include "kernels/cuda/next_read.cuh"
#include "kernels/cuda/q8_rows.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kGroup = 32;  // values that share a scale

/// Rounds the group that this thread block's results belong to, when all of it is there.
__device__ inline void round_group(const GatedMatvecArguments& gated, int token)
{
    const MatvecArguments& a = gated.gate;
    const int group = int(blockIdx.x) / (kGroup / kMatvecWarps);
    unsigned* counter = gated.counters + std::size_t(token) * std::size_t(a.rows / kGroup) + std::size_t(group);
    if (!is_last_block(counter, kGroup / kMatvecWarps) || warp() > 0)
        return;
    const int quad = group * kGroup / 4 + lane();
    const bool live = lane() < kGroup / 4;
    const auto* quads = reinterpret_cast<const float4*>(a.out + std::size_t(token) * std::size_t(a.out_stride));
    put_rounded(live ? read_of_others(quads + quad) : make_float4(0.0f, 0.0f, 0.0f, 0.0f), quad, live, a.rows,
                gated.rounded, token);
}

// grid: (ceil(rows / kMatvecWarps), tokens)
template <class Weights>
__device__ void gated_matvec(const GatedMatvecArguments& gated)
{
    const MatvecArguments& a = gated.gate;
    const int row = int(blockIdx.x) * kMatvecWarps + of_first_lane(warp());
    let_next_begin();
    if (row >= a.rows || !weights_are_known(a))
        wait_for_previous();
    if (row >= a.rows)
        return;  // the whole warp
    const int token = int(blockIdx.y);
    const Operands operands = operands_of(a, token);
    const std::size_t at = offset_of(a, operands, row);
    if (at == kLeftOut)
        return;  // the whole thread block
    const std::byte* x = a.x + operands.x_offset;

    __shared__ Turns<Weights, 2> turns[kMatvecWarps];
    const std::byte* const rows[2] = {moved(a.weights, at), moved(gated.up, at)};
    float sums[2] = {};
    if (a.residual)
        multiply_rows<Weights, true>(a, rows, x, a.residual + operands.x_offset, turns[warp()], sums);
    else
        multiply_rows<Weights, false>(a, rows, x, x, turns[warp()], sums);
    ask_for_next(gated.next, blockIdx.x);
    float gate = warp_sum(sums[0]);
    float up = warp_sum(sums[1]);
    if (lane() == 0) {
        if (a.scale)
            gate *= a.scale[operands.matrix];
        if (gated.up_scale)
            up *= gated.up_scale[operands.matrix];
        const std::size_t bias = operands.matrix * std::size_t(a.rows) + std::size_t(row);
        if (a.bias)
            gate += a.bias[bias];
        if (gated.up_bias)
            up += gated.up_bias[bias];
        a.out[std::size_t(token) * std::size_t(a.out_stride) + std::size_t(row)] = gate_times(gated.gating, gate, up);
    }
    if (gated.counters)
        round_group(gated, token);
}

}  // namespace

#define GATED_MATVEC(name, Weights)                                                                                    \
    extern "C" __global__ void __launch_bounds__(kMatvecWarps* kWarp, kWideMatvecBlocks)                               \
        name(const GatedMatvecArguments a)                                                                             \
    {                                                                                                                  \
        gated_matvec<Weights>(a);                                                                                      \
    }                                                                                                                  \
    EMULATED(name)
MATVEC_OF_EACH_TYPE(GATED_MATVEC, gated_matvec)
