// Products of packed weights with many tokens' activations on tensor cores. A thread block takes 64 weight rows and 128
// tokens; 128 weights of each row at a time are unpacked to bytes in shared memory, where they serve all tokens. Within
// a group the products are summed exactly, as integers; scales and offsets follow group by group.
#include "kernels/cpu/q8_layout.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/slices.cuh"
#include "kernels/packed_types.h"

using namespace kernels::cuda;

namespace {

constexpr int kStep = 128;           // weights of a row in shared memory
constexpr int kGroups = kStep / 32;  // groups of 32 in a step
constexpr int kPitch = kStep + 16;   // bytes from row to row: eight rows' words lie in different banks
constexpr int kTokenTiles = 8;       // of 8 tokens, that a warp takes beside its 16 rows
constexpr int kRowWarps = kMatmulRows / 16;

/// Types with a scale for each 16 weights, not 32.
template <class Block>
constexpr bool kScaleOf16 = false;
template <>
inline constexpr bool kScaleOf16<kernels::BlockQ2_K> = true;
template <>
inline constexpr bool kScaleOf16<kernels::BlockQ3_K> = true;
template <>
inline constexpr bool kScaleOf16<kernels::BlockQ6_K> = true;
template <>
inline constexpr bool kScaleOf16<kernels::BlockIQ2_XS> = true;
template <>
inline constexpr bool kScaleOf16<kernels::BlockIQ2_S> = true;
template <>
inline constexpr bool kScaleOf16<kernels::BlockIQ1_M> = true;
template <>
inline constexpr bool kScaleOf16<kernels::BlockNVFP4> = true;

struct Shared {
    std::byte weights[kMatmulRows * kPitch];
    std::byte x[kMatmulTokens * kPitch];
    float scale[kMatmulRows][2 * kGroups];  // of each 16 weights
    float offset[kMatmulRows][2 * kGroups];
    float x_scale[kMatmulTokens][kGroups];
    float x_sum16[kMatmulTokens][2 * kGroups];
    int x_row[kMatmulTokens];  // of each token; -1: there is no such token
    int out_row[kMatmulTokens];
};

// Whose products a thread block makes.
struct Work {
    const std::byte* weights;
    const float* bias;
    float scale;
    bool any;
    std::size_t x, out;  // of the head: bytes from where activations begin, and floats from where results do
};
__device__ Work take_work(const MatmulArguments& a, Shared& shared)
{
    const auto matrix = std::size_t(blockIdx.z);  // the expert or the head
    Work work{a.weights + matrix * a.expert.bytes,
              a.bias ? a.bias + matrix * std::size_t(a.rows) : nullptr,
              a.scale ? a.scale[matrix] : 1.0f,
              true,
              matrix * a.head.x,
              matrix * std::size_t(a.head.out)};
    int first = int(blockIdx.y) * kMatmulTokens;
    int end = a.tokens;
    if (a.expert.begin) {
        first += a.expert.begin[matrix];
        end = a.expert.begin[matrix + 1];
        work.any = first < end;
    }
    const int i = int(threadIdx.x);
    if (i < kMatmulTokens) {
        const int token = first + i < end ? first + i : -1;
        const int pair = a.expert.begin && token >= 0 ? a.expert.sorted[token] : token;
        shared.out_row[i] = pair;
        shared.x_row[i] = a.expert.begin && pair >= 0 ? pair / a.expert.pairs_of_each_row : pair;
    }
    return work;
}

// Unpacks kStep weights of each row from group `first_group` on; what lies beyond the matrix becomes zero.
template <class Block>
__device__ void load_weights(const MatmulArguments& a, const std::byte* weights, int first_row, int first_group,
                             Shared& shared)
{
    for (int i = int(threadIdx.x); i < kMatmulRows * kStep / 4; i += kMatmulThreads) {
        const int row = i / (kStep / 4);
        const int quad = i % (kStep / 4);
        const int group = first_group + quad / 8;
        Four w{0, 0.0f, 0.0f};
        if (first_row + row < a.rows && group < a.n / 32)
            w = four_of_row<Block>(weights + std::size_t(first_row + row) * a.row_bytes, group, quad % 8);
        *reinterpret_cast<std::uint32_t*>(shared.weights + row * kPitch + 4 * quad) = w.q;
        if (quad % 4 == 0) {
            shared.scale[row][quad / 4] = w.scale;
            if (kHasOffset<Block>)
                shared.offset[row][quad / 4] = w.offset;
        }
    }
}

// The same part of each token's activations. from: the rows that shared.x_row names
template <class Block>
__device__ void load_activations(const MatmulArguments& a, const std::byte* from, int first_group, Shared& shared)
{
    const kernels::Q8Layout at(a.n);
    for (int i = int(threadIdx.x); i < kMatmulTokens * kStep / 16; i += kMatmulThreads) {
        const int token = i / (kStep / 16);
        const int part = i % (kStep / 16);  // 16 values
        const int group = first_group + part / 2;
        const bool inside = shared.x_row[token] >= 0 && group < a.n / 32;
        const std::byte* x = from + std::size_t(max(shared.x_row[token], 0)) * a.x_stride;
        uint4 q = make_uint4(0, 0, 0, 0);
        if (inside)
            q = reinterpret_cast<const uint4*>(x)[2 * first_group + part];
        *reinterpret_cast<uint4*>(shared.x + token * kPitch + 16 * part) = q;
        if (part % 2 == 0)
            shared.x_scale[token][part / 2] = inside ? reinterpret_cast<const float*>(x + at.scale)[group] : 0.0f;
        if (kHasOffset<Block>)
            shared.x_sum16[token][part] =
                inside ? reinterpret_cast<const float*>(x + at.sum16)[2 * first_group + part] : 0.0f;
    }
}

__device__ inline std::uint32_t word(const std::byte* rows, int row, int byte)
{
    return *reinterpret_cast<const std::uint32_t*>(rows + row * kPitch + byte);
}

// Adds one group's products of 16 rows and 8 tokens. sums: as multiply_bytes has them
template <class Block>
__device__ void add_group(const Shared& shared, int group, const std::uint32_t (&a)[4], int row, int token_row,
                          int token, float (&sums)[4])
{
    const int place = lane() % 4;
    const std::uint32_t b[2] = {word(shared.x, token_row, 32 * group + 4 * place),
                                word(shared.x, token_row, 32 * group + 16 + 4 * place)};
    int products[2][4] = {};
    if constexpr (kScaleOf16<Block>) {
        multiply_bytes(products[0], a[0], a[1], b[0]);
        multiply_bytes(products[1], a[2], a[3], b[1]);
    } else {
        multiply_bytes(products[0], a, b);
    }
    for (int i = 0; i < 4; ++i) {
        const int r = row + i / 2 * 8;
        const int t = token + i % 2;
        float weighted = shared.scale[r][2 * group] * float(products[0][i]);
        if constexpr (kScaleOf16<Block>)
            weighted += shared.scale[r][2 * group + 1] * float(products[1][i]);
        sums[i] += weighted * shared.x_scale[t][group];
        if constexpr (kHasOffset<Block>)
            sums[i] += shared.offset[r][2 * group] * shared.x_sum16[t][2 * group] +
                       shared.offset[r][2 * group + 1] * shared.x_sum16[t][2 * group + 1];
    }
}

// grid: (ceil(rows / kMatmulRows), ceil(tokens / kMatmulTokens), heads); with experts: (, of the most that one gets,
// experts)
template <class Block>
__device__ void matmul(const MatmulArguments& a)
{
    Shared& shared = *reinterpret_cast<Shared*>(dynamic_shared());
    const Work work = take_work(a, shared);
    if (!work.any)
        return;  // the whole block
    const int first_row = int(blockIdx.x) * kMatmulRows;
    const int row = warp() % kRowWarps * 16 + lane() / 4;
    const int tokens = warp() / kRowWarps * kTokenTiles * 8;  // this warp's first

    float sums[kTokenTiles][4] = {};
    // What rounding lost goes through the same products: the second half of the steps.
    const int steps = (a.n / 32 + kGroups - 1) / kGroups;
    for (int step = 0; step < (a.residual ? 2 : 1) * steps; ++step) {
        const int group = step % steps * kGroups;
        __syncthreads();  // the last step has been used
        load_weights<Block>(a, work.weights, first_row, group, shared);
        load_activations<Block>(a, (step < steps ? a.x : a.residual) + work.x, group, shared);
        __syncthreads();
        for (int g = 0; g < kGroups; ++g) {
            const int byte = 32 * g + lane() % 4 * 4;
            const std::uint32_t w[4] = {word(shared.weights, row, byte), word(shared.weights, row + 8, byte),
                                        word(shared.weights, row, byte + 16), word(shared.weights, row + 8, byte + 16)};
#pragma unroll
            for (int tile = 0; tile < kTokenTiles; ++tile)
                add_group<Block>(shared, g, w, row, tokens + tile * 8 + lane() / 4, tokens + tile * 8 + lane() % 4 * 2,
                                 sums[tile]);
        }
    }
#pragma unroll
    for (int tile = 0; tile < kTokenTiles; ++tile)
        for (int i = 0; i < 4; ++i) {
            const int r = first_row + row + i / 2 * 8;
            const int t = shared.out_row[tokens + tile * 8 + lane() % 4 * 2 + i % 2];
            if (r >= a.rows || t < 0)
                continue;
            float& out = a.out[work.out + std::size_t(t) * std::size_t(a.out_stride) + std::size_t(r)];
            const float sum = sums[tile][i] * work.scale;
            out = (a.accumulate ? out : 0.0f) + (work.bias ? sum + work.bias[r] : sum);
        }
}

}  // namespace

static_assert(sizeof(Shared) == kMatmulSharedBytes && sizeof(Shared) <= 48 << 10);

#define MATMUL(Name, suffix, ...)                                                                                      \
    extern "C" __global__ void __launch_bounds__(kMatmulThreads, 2) matmul_##suffix(const MatmulArguments a)           \
    {                                                                                                                  \
        matmul<kernels::Block##Name>(a);                                                                               \
    }                                                                                                                  \
    EMULATED(matmul_##suffix);

SPILLWAY_EACH_PACKED_TYPE(MATMUL)
