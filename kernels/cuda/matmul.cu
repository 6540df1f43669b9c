// Products of packed weights with many tokens' activations on tensor cores. A thread block takes 64 weight rows and 128
// tokens, 64 weights of each row at a time, which are unpacked to bytes in shared memory once for all tokens. While
// tensor cores multiply one step's bytes, the next step's are on their way. Within a group the products are summed
// exactly, as integers; scales and offsets follow group by group, in the order of the groups.
#include "kernels/cpu/q8_layout.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/pieces.cuh"
#include "kernels/packed_types.h"

using namespace kernels::cuda;

namespace {

constexpr int kStep = 64;            // weights of a row in shared memory
constexpr int kGroups = kStep / 32;  // groups of 32 in a step
constexpr int kPieces = kStep / 16;  // what threads and banks of shared memory take at once
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

template <class Block>
constexpr int kScalesOf = kScaleOf16<Block> ? 2 : 1;  // of a group
/// Of a row's group of weights: scales, then offsets.
template <class Block>
constexpr int kScales = kScalesOf<Block>*(kHasOffset<Block> ? 2 : 1);
/// Of a token's group: a scale, then sums of what has an offset together; in all 1, 2 or 4.
template <class Block>
constexpr int kTokenScales = !kHasOffset<Block>  ? 1
                             : kScaleOf16<Block> ? 4
                                                 : 2;

/// What is multiplied in a step. Rows of 64 bytes lie without gaps; address_in says how.
template <class Block>
struct Stage {
    std::byte weights[kMatmulRows * kStep];
    std::byte x[kMatmulTokens * kStep];
    __align__(16) float scales[kGroups][kMatmulRows][kScales<Block>];
    __align__(16) float token_scales[kGroups][kMatmulTokens][kTokenScales<Block>];
};

template <class Block>
struct Shared {
    Stage<Block> stages[2];
    int out_row[kMatmulTokens];  // of each token; -1: there is no such token
};

/// What a warp multiplies: so many tiles of 16 rows, and pairs of tiles of 8 tokens. The wider it is, the fewer bytes
/// come from shared memory for each product; types with scales of 16 have no registers for two tiles of rows.
template <class Block>
constexpr int kRowTiles = kScaleOf16<Block> ? 1 : 2;
template <class Block>
constexpr int kRowWarps = kMatmulRows / (16 * kRowTiles<Block>);
template <class Block>
constexpr int kTokenWarps = kMatmulThreads / kWarp / kRowWarps<Block>;
template <class Block>
constexpr int kPairs = kMatmulTokens / (16 * kTokenWarps<Block>);
static_assert(kMatmulThreads == kMatmulRows * kPieces);

/// 16 bytes of a row of a stage. Eight rows' are in different banks.
template <class Bytes>
__device__ inline Bytes* address_in(Bytes* rows, int row, int piece)
{
    return rows + row * kStep + 16 * (piece ^ (row / 2 % kPieces));
}

// ---- what a thread block multiplies ----

/// The same address, of which the compiler knows what memory it names.
__device__ inline const std::byte* in_global_memory(const std::byte* at)
{
#ifdef __CUDA_ARCH__
    return static_cast<const std::byte*>(__cvta_global_to_generic(reinterpret_cast<std::size_t>(at)));
#else
    return at;
#endif
}

struct Work {
    const std::byte* weights;
    const float* bias;
    float scale;
    std::size_t x, out;  // of the head: bytes from where activations begin, and floats from where results do
    int first, tokens;   // of the tokens, or of the expert's pairs; 128 at most
};
__device__ inline Work work_of(const MatmulArguments& a)
{
    const auto matrix = std::size_t(blockIdx.z);  // the expert or the head
    int first = int(blockIdx.x) * kMatmulTokens;
    int end = a.tokens;
    if (a.expert.begin) {
        first += a.expert.begin[matrix];
        end = a.expert.begin[matrix + 1];
    }
    std::size_t offset = matrix * a.expert.bytes;
    if (a.expert.places) {
        offset = std::size_t(a.expert.places[matrix]);
        end = offset == 0 ? first : end;  // it is left out
    }
    return {in_global_memory(moved(a.weights, offset)),
            a.bias ? a.bias + matrix * std::size_t(a.rows) : nullptr,
            a.scale ? a.scale[matrix] : 1.0f,
            matrix * a.head.x,
            matrix * std::size_t(a.head.out),
            first,
            min(end - first, kMatmulTokens)};
}

/// Where a token's activations or results are; -1: there is no such token.
struct TokenRows {
    int x = -1, out = -1;
};
__device__ inline TokenRows rows_of(const MatmulArguments& a, const Work& work, int token)
{
    if (token >= work.tokens)
        return {};
    if (!a.expert.begin)
        return {work.first + token, work.first + token};
    const int pair = a.expert.sorted[work.first + token];
    return {pair / a.expert.pairs_of_each_row, pair};
}

/// Whether a step may go beyond the end of a row: where blocks are of one group.
template <class Block>
constexpr bool kHasTail = kBlockGroups<Block> == 1;

// ---- activations on their way to shared memory ----

/// A thread's share of them: in each step a piece of some tokens, and the scales of a group of one.
template <class Block>
class Activations
{
public:
    __device__ Activations(const MatmulArguments& a, const Work& work)
        : at_(a.n)
        , tokens_(work.tokens)
        , left_(a.n / 32 - own_group())
    {
        const auto row_of = [&](int token) {
            return a.x + work.x + std::size_t(max(rows_of(a, work, token).x, 0)) * a.x_stride;
        };
        for (int i = 0; i < kTokens; ++i)
            values_[i] = row_of(token(i)) + 16 * piece();
        scales_ = row_of(scaled_token()) + at_.scale + 4 * own_group();
    }

    /// The next step's. What lies beyond the row becomes zero; tokens that there are not keep what was there.
    __device__ void copy(Stage<Block>& to)
    {
#pragma unroll
        for (int i = 0; i < kTokens; ++i) {
            if (token(i) < tokens_)
                copy_async<16>(address_in(to.x, token(i), piece()), values_[i],
                               !kHasTail<Block> || left_ + own_group() > piece() / 2);
            values_[i] += kStep;
        }
        if (scaled_token() < tokens_)
            copy_scales(to);
        scales_ += 4 * kGroups;
        left_ -= kGroups;
    }

    /// From the last step of the activations to the first of what they lost.
    __device__ void go_on_with_residual(const MatmulArguments& a, int steps)
    {
        for (int i = 0; i < kTokens; ++i)
            values_[i] = a.residual + (values_[i] - a.x) - steps * kStep;
        scales_ = a.residual + (scales_ - a.x) - steps * 4 * kGroups;
        left_ += steps * kGroups;
    }

private:
    static constexpr int kTokens = kMatmulTokens * kPieces / kMatmulThreads;
    static_assert(kMatmulThreads == kGroups * kMatmulTokens);
    static __device__ int piece()
    {
        return int(threadIdx.x) % kPieces;
    }
    static __device__ int token(int i)
    {
        return int(threadIdx.x) / kPieces + i * (kMatmulThreads / kPieces);
    }
    static __device__ int own_group()
    {
        return int(threadIdx.x) % kGroups;
    }
    static __device__ int scaled_token()
    {
        return int(threadIdx.x) / kGroups;
    }

    __device__ void copy_scales(Stage<Block>& to) const
    {
        const bool there = !kHasTail<Block> || left_ > 0;
        float* scales = to.token_scales[own_group()][scaled_token()];
        copy_async<4>(scales, scales_, there);
        if constexpr (kScaleOf16<Block> && kHasOffset<Block>) {
            const int group = int(at_.scale) / 32 - left_;
            const std::byte* sums = scales_ + (at_.sum16 - at_.scale) + 4 * group;  // two for each scale
            copy_async<4>(scales + 1, sums, there);
            copy_async<4>(scales + 2, sums + 4, there);
        } else if constexpr (kHasOffset<Block>) {
            copy_async<4>(scales + 1, scales_ + (at_.sum32 - at_.scale), there);
        }
    }

    const kernels::Q8Layout at_;
    const std::byte* values_[kTokens];
    const std::byte* scales_;
    int tokens_;
    int left_;  // groups from the thread's own on
};

// ---- weights on their way ----

/// A thread's share of them: a piece of a row in each step.
template <class Block>
class Weights
{
public:
    // Rows beyond the matrix are read as its last one, and nothing comes of them.
    __device__ Weights(const MatmulArguments& a, const Work& work, int first_row)
        : row_(work.weights + std::size_t(min(first_row + row(), a.rows - 1)) * a.row_bytes)
        , groups_(unsigned(a.n) / 32)
    {
    }
    __device__ void read(unsigned first_group)
    {
        group_ = first_group + unsigned(piece()) / 2;
        if (inside())
            read_ = Pieces<Block>::read(block(), sub(), piece() % 2);
    }
    __device__ void unpack(Stage<Block>& to) const
    {
        Piece p{{0, 0, 0, 0}, 0.0f, 0.0f};
        if (inside())
            p = Pieces<Block>::unpack(read_, block(), sub(), piece() % 2);
        *reinterpret_cast<uint4*>(address_in(to.weights, row(), piece())) = make_uint4(p.q[0], p.q[1], p.q[2], p.q[3]);
        float* scales = to.scales[piece() / 2][row()];
        if (!kScaleOf16<Block> && piece() % 2 != 0)
            return;
        const int place = kScaleOf16<Block> ? piece() % 2 : 0;
        scales[place] = p.scale;
        if (kHasOffset<Block>)
            scales[kScalesOf<Block> + place] = p.offset;
    }

private:
    static constexpr unsigned kInBlock = kBlockGroups<Block>;
    static __device__ int row() { return int(threadIdx.x) / kPieces; }
    static __device__ int piece() { return int(threadIdx.x) % kPieces; }
    __device__ bool inside() const { return !kHasTail<Block> || group_ < groups_; }
    const __device__ Block& block() const { return reinterpret_cast<const Block*>(row_)[group_ / kInBlock]; }
    __device__ int sub() const { return int(group_ % kInBlock); }

    const std::byte* row_;
    unsigned groups_, group_ = 0;
    typename Pieces<Block>::Read read_{};
};

// ---- products ----

// Neighbouring floats in as few loads as there may be.
template <int count>
__device__ inline void take(float (&to)[count], const float* from)
{
    static_assert(count == 1 || count == 2 || count % 4 == 0);
    if constexpr (count == 1) {
        to[0] = *from;
    } else if constexpr (count == 2) {
        const float2 v = *reinterpret_cast<const float2*>(from);
        to[0] = v.x;
        to[1] = v.y;
    } else {
#pragma unroll
        for (int i = 0; i < count; i += 4) {
            const float4 v = *reinterpret_cast<const float4*>(from + i);
            to[i] = v.x;
            to[i + 1] = v.y;
            to[i + 2] = v.z;
            to[i + 3] = v.w;
        }
    }
}

// Adds the products of a group of 16 rows and 8 tokens. w, x: as multiply_bytes takes them; scales: of the lane's two
// rows; token_scales: of its two tokens, one after the other
template <class Block>
__device__ inline void add_group(const std::uint32_t (&w)[4], std::uint32_t x0, std::uint32_t x1,
                                 const float (&scales)[2][kScales<Block>],
                                 const float (&token_scales)[2 * kTokenScales<Block>], float (&sums)[4])
{
    int products[2][4];
    if constexpr (kScaleOf16<Block>) {
        multiply_bytes(products[0], kIntegerBits, w[0], w[1], x0);
        multiply_bytes(products[1], kIntegerBits, w[2], w[3], x1);
    } else {
        multiply_bytes(products[0], kIntegerBits, w, x0, x1);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const float* scale = scales[i / 2];
        const float* token = token_scales + i % 2 * kTokenScales<Block>;
        float weighted = scale[0] * float_of_bits(products[0][i]);
        if constexpr (kScaleOf16<Block>)
            weighted += scale[1] * float_of_bits(products[1][i]);
        sums[i] += weighted * token[0];
        if constexpr (kHasOffset<Block>)
#pragma unroll
            for (int part = 0; part < kScalesOf<Block>; ++part)
                sums[i] += scale[kScalesOf<Block> + part] * token[1 + part];
    }
}

// A step's products. row, pair: the warp's first row, and pair of tiles of 8 tokens; live: tokens that there are
template <class Block>
__device__ inline void multiply(const Stage<Block>& stage, int row, int pair, int live,
                                float (&sums)[kPairs<Block>][2][kRowTiles<Block>][4])
{
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
        std::uint32_t w[kRowTiles<Block>][4];
        float scales[kRowTiles<Block>][2][kScales<Block>];
#pragma unroll
        for (int i = 0; i < kRowTiles<Block>; ++i) {
            load_matrices(w[i], address_in(stage.weights, row + 16 * i + lane() % 16, 2 * g + lane() / 16));
            take(scales[i][0], stage.scales[g][row + 16 * i + lane() / 4]);
            take(scales[i][1], stage.scales[g][row + 16 * i + lane() / 4 + 8]);
        }
#pragma unroll
        for (int p = 0; p < kPairs<Block>; ++p) {
            const int first = 16 * (pair + kTokenWarps<Block> * p);
            if (first >= live)
                break;  // the whole warp
            std::uint32_t x[4];
            load_matrices(x, address_in(stage.x, first + lane() / 16 * 8 + lane() % 8, 2 * g + lane() / 8 % 2));
#pragma unroll
            for (int t = 0; t < 2; ++t) {
                float token_scales[2 * kTokenScales<Block>];
                take(token_scales, stage.token_scales[g][first + 8 * t + lane() % 4 * 2]);
#pragma unroll
                for (int i = 0; i < kRowTiles<Block>; ++i)
                    add_group<Block>(w[i], x[2 * t], x[2 * t + 1], scales[i], token_scales, sums[p][t][i]);
            }
        }
    }
}

// grid: (ceil(tokens / kMatmulTokens), ceil(rows / kMatmulRows), heads); with experts: (of the most that one gets, ,
// experts). Tokens come first, so that thread blocks that run at the same time share weights: from memory they come
// once.
template <class Block>
__device__ void matmul(const MatmulArguments& a)
{
    static_assert(sizeof(Shared<Block>) <= matmul_shared_bytes(kTokenScales<Block> > 2));
    Shared<Block>& shared = *reinterpret_cast<Shared<Block>*>(dynamic_shared());
    const Work work = work_of(a);
    if (work.tokens <= 0)
        return;  // the whole block
    if (const int token = int(threadIdx.x); token < kMatmulTokens)
        shared.out_row[token] = rows_of(a, work, token).out;

    const int first_row = int(blockIdx.y) * kMatmulRows;
    const int row = warp() % kRowWarps<Block> * 16 * kRowTiles<Block>;
    // Warps take pairs in turns, so that more of them have work where tokens are few.
    const int pair = warp() / kRowWarps<Block>;
    Activations<Block> activations(a, work);
    Weights<Block> weights(a, work, first_row);

    // What rounding lost goes through the same products: the second half of the steps.
    const unsigned steps_once = unsigned(a.n / 32 + kGroups - 1) / kGroups;
    const unsigned steps = (a.residual ? 2 : 1) * steps_once;
    float sums[kPairs<Block>][2][kRowTiles<Block>][4] = {};
    activations.copy(shared.stages[0]);
    commit_copies();
    weights.read(0);
    weights.unpack(shared.stages[0]);
    for (unsigned step = 1; step <= steps; ++step) {
        Stage<Block>& here = shared.stages[(step - 1) % 2];
        Stage<Block>& there = shared.stages[step % 2];
        wait_for_copies<0>();
        __syncthreads();  // this step's are here, and the last step has been used
        if (step == steps_once && step < steps)
            activations.go_on_with_residual(a, int(steps_once));
        if (step < steps) {
            activations.copy(there);
            commit_copies();
            weights.read((step < steps_once ? step : step - steps_once) * kGroups);
        }
        multiply<Block>(here, row, pair, work.tokens, sums);
        if (step < steps)
            weights.unpack(there);
    }

#pragma unroll
    for (int i = 0; i < 4 * kPairs<Block>; ++i) {
        const int p = i / 4;
        const int t = i / 2 % 2;
        const int odd = i % 2;
        const int out_row = shared.out_row[16 * (pair + kTokenWarps<Block> * p) + 8 * t + lane() % 4 * 2 + odd];
        if (out_row < 0)
            continue;
        float* out = a.out + work.out + std::size_t(out_row) * std::size_t(a.out_stride);
#pragma unroll
        for (int eight = 0; eight < 2 * kRowTiles<Block>; ++eight) {
            const int r = first_row + row + 8 * eight + lane() / 4;
            if (r >= a.rows)
                continue;
            const float sum = sums[p][t][eight / 2][eight % 2 * 2 + odd] * work.scale;
            out[r] = (a.accumulate ? out[r] : 0.0f) + (work.bias ? sum + work.bias[r] : sum);
        }
    }
}

}  // namespace

#define MATMUL(Name, suffix, ...)                                                                                      \
    extern "C" __global__ void __launch_bounds__(kMatmulThreads, 2) matmul_##suffix(const MatmulArguments a)           \
    {                                                                                                                  \
        matmul<kernels::Block##Name>(a);                                                                               \
    }                                                                                                                  \
    EMULATED(matmul_##suffix);

SPILLWAY_EACH_PACKED_TYPE(MATMUL)
