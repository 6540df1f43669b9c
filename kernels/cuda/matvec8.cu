// Products with up to eight tokens' activations at a time. To read these for each row by itself would take longer than
// to read the weights: so the warps of a thread block go along their rows together, and what is next of the activations
// lies in shared memory for all of them. The sums are those of matvec, in its order.
#include "kernels/cuda/matvec.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kStepsAhead = 2;
constexpr int kStepX = 1024;  // bytes of a step's activations, rounded or not

/// What a thread block has of a step: of each warp's row the chunks of 16 that hold it, and tokens' activations.
template <class Weights>
struct SharedStep {
    static constexpr int kChunks = (Weights::kStep + 15) / 16 + (Weights::kAligned ? 0 : 1);
    uint4 weights[kFewWarps][kChunks];
    uint4 x[kMatvecTokens][kStepX / 16];
    float extras[kMatvecTokens][Weights::kExtras];  // scales, sums
};

/// The lane's share of copying a step of a row of activations.
template <class Weights>
__device__ inline void copy_activations(const std::byte* x, int n, int step, uint4* to, float* extras)
{
    const std::byte* from = x + step * kStepX + 16 * lane();
    const int left = Weights::x_bytes(n) - step * kStepX - 16 * lane();
    const SharedPlace place = shared_place(to + place_of_chunk<Weights::kRunsApart>(unsigned(lane())));
    if (left > 0)
        copy_chunk<0>(place, from, left);
    if (left > 512)
        copy_chunk<512>(place, from, left - 512);
    Weights::copy_extras(x, n, step, extras);
}

template <class Weights, bool has_residual>
__device__ void multiply_few(const MatvecArguments& a, SharedStep<Weights> (&steps)[kStepsAhead])
{
    constexpr int kOfToken = has_residual ? 2 : 1;  // rows of activations
    constexpr int kTokens = kMatvecTokens / kOfToken;
    const int row = int(blockIdx.x) * kFewWarps + warp();
    const int first = int(blockIdx.y) * kTokens;
    const int tokens = min(kTokens, a.tokens - first);
    const Operands operands = operands_of(a, first);
    const std::size_t offset = offset_of(a, operands, min(row, a.rows - 1));  // beyond the last: again, for its copies
    if (offset == kLeftOut)
        return;  // the whole thread block
    const std::byte* weights = moved(a.weights, offset);
    const auto row_of_x = [&](int i) {
        const std::byte* from = has_residual && i % 2 == 1 ? a.residual : a.x;
        return from + operands.x_offset + std::size_t(i / kOfToken) * a.x_stride;
    };
    const auto bytes_before = [&](int step) {
        return Weights::kAligned ? 0u
                                 : unsigned(reinterpret_cast<std::uintptr_t>(weights + step * Weights::kStep) % 16);
    };
    const int slices = Weights::slices(a.n);
    const auto copy = [&](int step) {
        SharedStep<Weights>& to = steps[step % kStepsAhead];
        const int before = int(bytes_before(step));
        const int done = step * Weights::kStep;
        const int left = int(a.row_bytes) - done;
        if (left > 0) {
            copy_turn<SharedStep<Weights>::kChunks>(shared_place(to.weights[warp()] + lane()),
                                                    weights + done - before + 16 * lane(), before + left - 16 * lane());
            for (int i = warp(); i < kOfToken * tokens; i += kFewWarps)
                copy_activations<Weights>(row_of_x(i), a.n, step, to.x[i], to.extras[i]);
        }
        commit_copies();
    };
    for (int step = 0; step < kStepsAhead; ++step)
        copy(step);

    float sums[kTokens] = {};
#pragma unroll 1
    for (int step = 0; 32 * step < slices; ++step) {
        wait_for_copies<kStepsAhead - 1>();
        __syncthreads();  // the others' have arrived, too
        const SharedStep<Weights>& here = steps[step % kStepsAhead];
        const int left = slices - 32 * step;
        const auto at_lane = unsigned(min(lane(), left - 1));  // beyond the row's end the last one's slice
        const auto* bytes = reinterpret_cast<const std::byte*>(here.weights[warp()]) + bytes_before(step);
        const typename Weights::Taken taken = Weights::take(bytes, at_lane);
#pragma unroll
        for (int t = 0; t < kTokens; ++t) {
            if (t % 2 == 0 && t >= tokens)
                break;
            float sum = sums[t];  // of a token beyond the last it means nothing
#pragma unroll
            for (int i = kOfToken * t; i < kOfToken * (t + 1); ++i)
                sum = Weights::add_dot(sum, taken, Weights::place(here.x[i], here.extras[i], at_lane), 0);
            sums[t] = lane() < left ? sum : sums[t];
        }
        __syncthreads();  // all have used it
        copy(step + kStepsAhead);
    }
    if (row < a.rows)
        write_sums(a, operands, first, tokens, row, sums);
}

// grid: (ceil(rows / kFewWarps), ceil(tokens / kMatvecTokens), or half as many tokens where there is a residual, heads)
template <class Weights>
__device__ void matvec8(const MatvecArguments& a)
{
    __shared__ SharedStep<Weights> steps[kStepsAhead];
    let_next_begin();
    wait_for_previous();
    if (a.residual)
        multiply_few<Weights, true>(a, steps);
    else
        multiply_few<Weights, false>(a, steps);
}

}  // namespace

#define MATVEC8(name, Weights)                                                                                         \
    extern "C" __global__ void __launch_bounds__(kFewWarps* kWarp, kFewBlocks) name(const MatvecArguments a)           \
    {                                                                                                                  \
        matvec8<Weights>(a);                                                                                           \
    }                                                                                                                  \
    EMULATED(name)
MATVEC_OF_EACH_TYPE(MATVEC8, matvec8)
