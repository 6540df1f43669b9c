// Products with up to eight tokens' activations at a time, where reading the weights is still most of the work: a warp
// goes along two rows, of which it multiplies each step with the tokens' activations one after another. These come from
// the first-level cache, where all warps find them; of two rows, so that a token's are loaded half as often. The rows
// are neighbours of one matrix, or a gate's and the up's beside it. The sums are those of matvec, in its order.
#include "kernels/cuda/gates.cuh"
#include "kernels/cuda/matvec.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kRows = kFewRowsOfWarp;

/// Adds to each lane's sums its share of the products of a warp's rows with some tokens. tokens: kTokens at most
template <class Weights, bool has_residual, int kTokens>
__device__ inline void multiply_few(const MatvecArguments& a, const Operands& operands, int tokens,
                                    const std::byte* const (&rows)[kRows], Turns<Weights, kRows>& turns,
                                    float (&sums)[kRows][kTokens])
{
    const std::byte* x = in_global_memory(a.x + operands.x_offset);
    auto place = Weights::place(x, a.n, unsigned(lane()));
    const std::ptrdiff_t residual = has_residual ? a.residual - a.x : 0;
    const auto stride = std::ptrdiff_t(a.x_stride);
    walk<Weights>(
        rows, a.row_bytes, Weights::slices(a.n), turns,
        [&](int k, const std::byte* const(&bytes)[kRows], unsigned at_lane, bool any) {
            auto at = Weights::moved(place, unsigned(lane()), at_lane);
            typename Weights::Taken taken[kRows];
#pragma unroll
            for (int r = 0; r < kRows; ++r)
                taken[r] = Weights::take(bytes[r], at_lane);
#pragma unroll
            for (int t = 0; t < kTokens; ++t) {
                if (t >= 4 && t % 2 == 0 && t >= tokens)
                    break;  // no sooner, so that the loads of the first four need not wait for each other
#pragma unroll
                for (int r = 0; r < kRows; ++r) {
                    float sum = Weights::add_dot(sums[r][t], taken[r], at, k);
                    if (has_residual)
                        sum = Weights::add_dot(sum, taken[r], at.at(residual), k);
                    sums[r][t] = any ? sum : sums[r][t];
                }
                if (t + 1 < tokens)  // else the last token again, whose sums are not used
                    at = at.at(stride);
            }
        },
        [&](int steps) { place = place.after(steps); });
}

/// Joins the lanes' sums of a gate's row and the up's, and writes the gated results.
template <int kTokens>
__device__ inline void write_gated(const GatedMatvecArguments& gated, int first, int tokens, int row,
                                   const float (&sums)[kRows][kTokens])
{
    const MatvecArguments& a = gated.gate;
    const float gate_scale = a.scale ? *a.scale : 1.0f, up_scale = gated.up_scale ? *gated.up_scale : 1.0f;
#pragma unroll
    for (int t = 0; t < kTokens; ++t) {
        float gate = warp_sum(sums[0][t]) * gate_scale;
        float up = warp_sum(sums[1][t]) * up_scale;
        if (lane() != 0 || t >= tokens)
            continue;
        if (a.bias)
            gate += a.bias[row];
        if (gated.up_bias)
            up += gated.up_bias[row];
        a.out[std::size_t(first + t) * std::size_t(a.out_stride) + std::size_t(row)] =
            gate_times(gated.gating, gate, up);
    }
}

/// Multiplies the rows of a thread block with its tokens, of which there are kTokens at most. Fewer tokens have code of
/// their own where that is worth its size.
template <class Weights, bool has_residual, int kTokens>
__device__ void multiply_block(const GatedMatvecArguments& gated, const MatvecArguments& a, int block, int first,
                               int tokens, Turns<Weights, kRows>* turns)
{
    const int apart = gated.up ? 1 : kRows;
    const int row = (block * kMatvecWarps + warp()) * apart;
    if (row >= a.rows) {
        wait_for_previous();
        return;  // the whole warp
    }
    const Operands operands = operands_of(a, first);
    const std::size_t at = offset_of(a, operands, row);
    const std::byte* const own = moved(a.weights, at);
    const bool has_second = row + 1 < a.rows;  // else the first row is multiplied again
    const std::byte* const rows[kRows] = {own, gated.up ? moved(gated.up, at)
                                                        : moved(own, has_second ? a.row_bytes : std::size_t(0))};

    float sums[kRows][kTokens] = {};
    multiply_few<Weights, has_residual, kTokens>(a, operands, tokens, rows, turns[warp()], sums);
    if (gated.up) {
        write_gated(gated, first, tokens, row, sums);
        return;
    }
    write_sums(a, operands, first, tokens, row, sums[0]);
    if (has_second)
        write_sums(a, operands, first, tokens, row + 1, sums[1]);
}

template <class Weights>
__device__ void matvec8(const GatedMatvecArguments& gated, const PartOfLaunch& of, Turns<Weights, kRows>* turns)
{
    const int at_once = of.a.residual ? kMatvecTokens / 2 : kMatvecTokens;
    const int first = int(blockIdx.y) * at_once;
    const int tokens = min(at_once, of.a.tokens - first);
    if (of.a.residual)
        multiply_block<Weights, true, 4>(gated, of.a, of.block, first, tokens, turns);
    else if (Weights::kInManyModels && tokens <= 2)
        multiply_block<Weights, false, 2>(gated, of.a, of.block, first, tokens, turns);
    else if (Weights::kInManyModels && tokens <= 4)
        multiply_block<Weights, false, 4>(gated, of.a, of.block, first, tokens, turns);
    else
        multiply_block<Weights, false, 8>(gated, of.a, of.block, first, tokens, turns);
}

}  // namespace

// grid: (ceil(rows / (kMatvecWarps * kFewRowsOfWarp)), ceil(tokens / kMatvecTokens), or half as many tokens where there
// is a residual, heads); where it is gated, a warp has one row of each matrix, and parts has none
#define MATVEC8(name, Weights)                                                                                         \
    extern "C" __global__ void __launch_bounds__(kMatvecWarps* kWarp, kFewBlocks)                                      \
        name(const GatedMatvecArguments gated, const MatvecParts parts)                                                \
    {                                                                                                                  \
        __shared__ Turns<Weights, kRows> turns[kMatvecWarps];                                                          \
        let_next_begin();                                                                                              \
        matvec8<Weights>(gated, part_of(gated.gate, parts, int(blockIdx.x)), turns);                                   \
    }                                                                                                                  \
    EMULATED(name)
MATVEC_OF_EACH_TYPE(MATVEC8, matvec8)
