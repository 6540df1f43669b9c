// Products of float weights with many tokens' activations on tensor cores, which multiply fp16 numbers. A thread block
// takes 64 weight rows and 128 tokens, 32 values of each at a time. A float becomes two fp16 numbers, the second of
// which holds what the first rounds away, under a power of two that the 32 values share: so nothing overflows, and
// about 22 bits of each are multiplied. Products of the two second parts are left out.
#include "kernels/cuda/device.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/matmul_work.cuh"
#include "kernels/cuda/split_floats.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kStep = kSharedScale;
constexpr int kTokenTiles = 8;  // of 8 tokens, that a warp takes beside its 16 rows
constexpr int kRowWarps = kMatmulRows / 16;
constexpr int kTokenWarps = kMatmulThreads / kWarp / kRowWarps;
static_assert(kMatmulTokens == 8 * kTokenTiles * kTokenWarps);
constexpr float kLostScale = 2048.0f;  // 2^11: what was lost is as large as the half it was lost from, or smaller

struct alignas(16) Shared {  // eight halves are written at once
    std::uint16_t weights[kMatmulRows * kHalvesPitch], weights_lost[kMatmulRows * kHalvesPitch];
    std::uint16_t x[kMatmulTokens * kHalvesPitch], x_lost[kMatmulTokens * kHalvesPitch];
    float weights_scale[kMatmulRows], x_scale[kMatmulTokens];  // of the 32 values
    int x_row[kMatmulTokens], out_row[kMatmulTokens];          // of each token; -1: there is no such token
};

__device__ inline void take_floats(const float* from, float (&values)[8])
{
    const float4 a = reinterpret_cast<const float4*>(from)[0];
    const float4 b = reinterpret_cast<const float4*>(from)[1];
    const float all[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
    for (int i = 0; i < 8; ++i)
        values[i] = all[i];
}

// ---- weights: eight a lane, from `at` of a row on ----

struct F32 {
    static constexpr bool kLoses = true;  // what the halves keep is not all
    static __device__ void take(const std::byte* row, int at, float (&values)[8])
    {
        take_floats(reinterpret_cast<const float*>(row) + at, values);
    }
};

template <float (*to_float)(std::uint16_t)>
struct SixteenBits {
    static constexpr bool kLoses = false;
    static __device__ void take(const std::byte* row, int at, float (&values)[8])
    {
        const uint4 bits = *reinterpret_cast<const uint4*>(reinterpret_cast<const std::uint16_t*>(row) + at);
        const std::uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
        for (int i = 0; i < 8; ++i)
            values[i] = to_float(std::uint16_t(words[i / 2] >> (16 * (i % 2))));
    }
};

// row: of the weights that this thread brings
template <class Weights>
__device__ void load_weights(const MatmulArguments& a, const std::byte* row, int first, Shared& shared)
{
    static_assert(kMatmulThreads == 4 * kMatmulRows);
    const int part = quarter_of_row();
    float values[8] = {};
    if (first + 8 * part < a.n)
        Weights::take(row, first + 8 * part, values);
    const float scale = scale_to_halves(largest_of_row(values));
    const SplitFloats h = split(values, scale, kLostScale);
    put_eight(shared.weights, int(threadIdx.x) / 4, part, h.kept);
    if (Weights::kLoses)
        put_eight(shared.weights_lost, int(threadIdx.x) / 4, part, h.lost);
    if (part == 0)
        shared.weights_scale[threadIdx.x / 4] = inverse_of(scale);
}

// x: the first token's activations
__device__ void load_activations(const MatmulArguments& a, const std::byte* x, int first, Shared& shared)
{
    const int part = quarter_of_row();
    for (int token = int(threadIdx.x) / 4; token < kMatmulTokens; token += kMatmulThreads / 4) {
        float values[8] = {};
        if (const int row = shared.x_row[token]; row >= 0 && first + 8 * part < a.n)
            take_floats(reinterpret_cast<const float*>(x + std::size_t(row) * a.x_stride) + first + 8 * part, values);
        const float scale = scale_to_halves(largest_of_row(values));
        const SplitFloats h = split(values, scale, kLostScale);
        put_eight(shared.x, token, part, h.kept);
        put_eight(shared.x_lost, token, part, h.lost);
        if (part == 0)
            shared.x_scale[token] = inverse_of(scale);
    }
}

// ---- products ----

__device__ inline std::uint32_t word(const std::uint16_t* rows, int row, int half)
{
    return *reinterpret_cast<const std::uint32_t*>(rows + row * kHalvesPitch + half);
}

/// 16 rows from `row` - lane / 4 on, 16 values from `at` on: as multiply_halves takes them.
__device__ inline void load_rows(std::uint32_t (&a)[4], const std::uint16_t* rows, int row, int at)
{
    const int half = at + lane() % 4 * 2;
    a[0] = word(rows, row, half);
    a[1] = word(rows, row + 8, half);
    a[2] = word(rows, row, half + 8);
    a[3] = word(rows, row + 8, half + 8);
}

__device__ inline void load_column(std::uint32_t (&b)[2], const std::uint16_t* rows, int token, int at)
{
    const int half = at + lane() % 4 * 2;
    b[0] = word(rows, token, half);
    b[1] = word(rows, token, half + 8);
}

/// Multiplies what is in shared memory, of 16 rows and 8 tokens. kept, lost: as multiply_halves has them
template <class Weights>
__device__ void multiply_step(const Shared& shared, int row, int token_row, float (&kept)[4], float (&lost)[4])
{
    for (int at = 0; at < kStep; at += 16) {
        std::uint32_t w[4];
        std::uint32_t x[2];
        std::uint32_t x_lost[2];
        load_rows(w, shared.weights, row, at);
        load_column(x, shared.x, token_row, at);
        load_column(x_lost, shared.x_lost, token_row, at);
        multiply_halves(kept, w, x);
        multiply_halves(lost, w, x_lost);
        if constexpr (Weights::kLoses) {
            load_rows(w, shared.weights_lost, row, at);
            multiply_halves(lost, w, x);
        }
    }
}

// grid: (ceil(tokens / kMatmulTokens), ceil(rows / kMatmulRows), heads); with experts: (of the most that one gets, ,
// experts)
template <class Weights>
__device__ void matmul(const MatmulArguments& a)
{
    __shared__ Shared shared;
    const MatmulWork work = work_of(a);
    if (work.tokens <= 0)
        return;  // the whole block
    if (const int token = int(threadIdx.x); token < kMatmulTokens) {
        const TokenRows rows = rows_of(a, work, token);
        shared.x_row[token] = rows.x;
        shared.out_row[token] = rows.out;
    }
    const int first_row = int(blockIdx.y) * kMatmulRows;
    // Rows beyond the matrix are read as its last one, and nothing comes of them.
    const std::byte* const brought =
        work.weights + std::size_t(min(first_row + int(threadIdx.x) / 4, a.rows - 1)) * a.row_bytes;
    const int row = warp() % kRowWarps * 16 + lane() / 4;
    // Warps take tiles of tokens in turns, so that more of them have work where tokens are few.
    const int first_tile = of_first_lane(warp() / kRowWarps);
    const int live = of_first_lane(work.tokens);

    float sums[kTokenTiles][4] = {};
    for (int first = 0; first < a.n; first += kStep) {
        __syncthreads();  // the last step has been used
        load_weights<Weights>(a, brought, first, shared);
        load_activations(a, a.x + work.x, first, shared);
        __syncthreads();
#pragma unroll
        for (int tile = 0; tile < kTokenTiles; ++tile) {
            const int tokens = 8 * (first_tile + kTokenWarps * tile);
            if (tokens >= live)
                break;  // the whole warp
            float kept[4] = {};
            float lost[4] = {};
            multiply_step<Weights>(shared, row, tokens + lane() / 4, kept, lost);
            for (int i = 0; i < 4; ++i)
                sums[tile][i] += (kept[i] + lost[i] * (1.0f / kLostScale)) * shared.weights_scale[row + i / 2 * 8] *
                                 shared.x_scale[tokens + lane() % 4 * 2 + i % 2];
        }
    }
#pragma unroll
    for (int tile = 0; tile < kTokenTiles; ++tile)
        for (int i = 0; i < 4; ++i) {
            const int r = first_row + row + i / 2 * 8;
            const int out_row = shared.out_row[8 * (first_tile + kTokenWarps * tile) + lane() % 4 * 2 + i % 2];
            if (r >= a.rows || out_row < 0)
                continue;
            float& out = a.out[work.out + std::size_t(out_row) * std::size_t(a.out_stride) + std::size_t(r)];
            const float sum = sums[tile][i] * work.scale;
            out = (a.accumulate ? out : 0.0f) + (work.bias ? sum + work.bias[r] : sum);
        }
}

}  // namespace

#define MATMUL(type, Weights)                                                                                          \
    extern "C" __global__ void __launch_bounds__(kMatmulThreads, 2) matmul_##type(const MatmulArguments a)             \
    {                                                                                                                  \
        matmul<Weights>(a);                                                                                            \
    }                                                                                                                  \
    EMULATED(matmul_##type)

MATMUL(f32, F32);
MATMUL(f16, SixteenBits<kernels::cuda::half_to_float>);
MATMUL(bf16, SixteenBits<kernels::cuda::bf16_to_float>);
