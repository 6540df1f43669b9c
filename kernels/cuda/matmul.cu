// Products of packed weights with many tokens' activations on tensor cores. A thread block takes 64 weight rows and 128
// tokens, 64 weights of each row at a time, which are unpacked to bytes in shared memory once for all tokens. While
// tensor cores multiply one step's bytes, the next step's are on their way. Within a group the products are summed
// exactly, as integers; scales and offsets follow group by group, in the order of the groups.
#include "kernels/cpu/q8_layout.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/matmul_work.cuh"
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
/// The scales and offsets of a row's group of weights: scales first, then offsets.
template <class Block>
constexpr int kScales = kScalesOf<Block>*(kHasOffset<Block> ? 2 : 1);
/// The numbers of a token's group: a scale, then sums of what has an offset together; in all 1, 2 or 4.
template <class Block>
constexpr int kTokenScales = !kHasOffset<Block>  ? 1
                             : kScaleOf16<Block> ? 4
                                                 : 2;

/// Holds what is multiplied in a step. Rows of 64 bytes lie without gaps; address_in says how.
template <class Block>
struct RowStage {
    std::byte weights[kMatmulRows * kStep];
    __align__(16) float scales[kGroups][kMatmulRows][kScales<Block>];
};
template <class Block>
struct TokenStage {
    std::byte x[kMatmulTokens * kStep];
    __align__(16) float scales[kGroups][kMatmulTokens][kTokenScales<Block>];
};

template <class Block>
struct Shared {
    RowStage<Block> rows[2];
    TokenStage<Block> tokens[2];
    int out_row[kMatmulTokens];  // of each token; -1: there is no such token
    __align__(16) int start[4];  // kIntegerBits
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

/// Whether a step may go beyond the end of a row: where blocks are of one group.
template <class Block>
constexpr bool kHasTail = kBlockGroups<Block> == 1;

// ---- activations on their way to shared memory ----

/// A thread's share of them: in each step a piece of some tokens, and the scales of a group of one.
template <class Block>
class Activations
{
public:
    __device__ Activations(const MatmulArguments& a, const MatmulWork& work)
        : at_(a.n)
        , tokens_(work.tokens)
    {
        const auto row_of = [&](int token) {
            return a.x + work.x + std::size_t(max(rows_of(a, work, token).x, 0)) * a.x_stride;
        };
        for (int i = 0; i < kTokens; ++i)
            values_[i] = row_of(token(i)) + 16 * piece();
        scales_ = row_of(scaled_token()) + at_.scale + 4 * own_group();
    }

    /// A step's, `apart` bytes from the activations themselves. What lies beyond the row becomes zero; tokens that
    /// there are not keep what was there.
    __device__ void copy(TokenStage<Block>& to, unsigned step, std::ptrdiff_t apart) const
    {
        const int left = int(at_.scale) / 32 - int(step) * kGroups;  // groups
#pragma unroll
        for (int i = 0; i < kTokens; ++i)
            copy_async_if<16>(token(i) < tokens_, address_in(to.x, token(i), piece()),
                              values_[i] + (apart + step * kStep), !kHasTail<Block> || left > piece() / 2);
        const bool wanted = scaled_token() < tokens_;
        const bool there = !kHasTail<Block> || left > own_group();
        float* scales = to.scales[own_group()][scaled_token()];
        const std::byte* from = scales_ + (apart + step * (4 * kGroups));
        copy_async_if<4>(wanted, scales, from, there);
        if constexpr (kScaleOf16<Block> && kHasOffset<Block>) {
            const unsigned group = step * kGroups + unsigned(own_group());
            const std::byte* sums = from + (at_.sum16 - at_.scale) + 4 * group;  // two for each scale
            copy_async_if<4>(wanted, scales + 1, sums, there);
            copy_async_if<4>(wanted, scales + 2, sums + 4, there);
        } else if constexpr (kHasOffset<Block>) {
            copy_async_if<4>(wanted, scales + 1, from + (at_.sum32 - at_.scale), there);
        }
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

    const kernels::Q8Layout at_;
    const std::byte* values_[kTokens];
    const std::byte* scales_;
    int tokens_;
};

// ---- weights on their way ----

/// A thread's share of them: a piece of a row in each step.
template <class Block>
class Weights
{
public:
    // Rows beyond the matrix are read as its last one, and nothing comes of them.
    __device__ Weights(const MatmulArguments& a, const MatmulWork& work, int first_row)
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
    __device__ void unpack(RowStage<Block>& to) const
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
__device__ inline void take_neighbours(float (&to)[count], const float* from)
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

/// A lane's scales of one of its rows in a group, and what scaled_float_of_bits wants of the first.
template <class Block>
struct RowScales {
    float of[kScales<Block>];
    float no_integer;

    __device__ void take(const float* from)
    {
        take_neighbours(of, from);
        no_integer = of[0] * -kIntegerOne;
    }
};

// Adds the products of a group of 16 rows and 8 tokens. w, x: as multiply_bytes takes them; rows: the lane's two;
// token_scales: of its two tokens, one after the other
template <class Block>
__device__ inline void add_group(const std::uint32_t (&w)[4], std::uint32_t x0, std::uint32_t x1,
                                 const RowScales<Block>& row0, const RowScales<Block>& row1,
                                 const float (&token_scales)[2 * kTokenScales<Block>], const int (&start)[4],
                                 float (&sums)[4])
{
    int products[2][4];
    if constexpr (kScaleOf16<Block>) {
        multiply_bytes(products[0], start, w[0], w[1], x0);
        multiply_bytes(products[1], start, w[2], w[3], x1);
    } else {
        multiply_bytes(products[0], start, w, x0, x1);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const RowScales<Block>& row = i < 2 ? row0 : row1;
        const float* token = token_scales + i % 2 * kTokenScales<Block>;
        float weighted = scaled_float_of_bits(products[0][i], row.of[0], row.no_integer);
        if constexpr (kScaleOf16<Block>)
            weighted += row.of[1] * float_of_bits(products[1][i]);
        sums[i] += weighted * token[0];
        if constexpr (kHasOffset<Block>)
#pragma unroll
            for (int part = 0; part < kScalesOf<Block>; ++part)
                sums[i] += row.of[kScalesOf<Block> + part] * token[1 + part];
    }
}

// A step's products. row, pair: the warp's first row, and pair of tiles of 8 tokens; live: tokens that there are
template <class Block>
__device__ inline void multiply(const RowStage<Block>& rows, const TokenStage<Block>& tokens, int row, int pair,
                                int live, const int (&start)[4], float (&sums)[kPairs<Block>][2][kRowTiles<Block>][4])
{
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
        std::uint32_t w[kRowTiles<Block>][4];
#pragma unroll
        for (int i = 0; i < kRowTiles<Block>; ++i)
            load_matrices(w[i], address_in(rows.weights, row + 16 * i + lane() % 16, 2 * g + lane() / 16));
        RowScales<Block> scales[2 * kRowTiles<Block>];
#pragma unroll
        for (int i = 0; i < 2 * kRowTiles<Block>; ++i)
            scales[i].take(rows.scales[g][row + 8 * i + lane() / 4]);
#pragma unroll
        for (int p = 0; p < kPairs<Block>; ++p) {
            const int first = 16 * (pair + kTokenWarps<Block> * p);
            if (first >= live)
                break;  // the whole warp
            std::uint32_t x[4];
            load_matrices(x, address_in(tokens.x, first + lane() / 16 * 8 + lane() % 8, 2 * g + lane() / 8 % 2));
#pragma unroll
            for (int t = 0; t < 2; ++t) {
                float token_scales[2 * kTokenScales<Block>];
                take_neighbours(token_scales, tokens.scales[g][first + 8 * t + lane() % 4 * 2]);
#pragma unroll
                for (int i = 0; i < kRowTiles<Block>; ++i)
                    add_group<Block>(w[i], x[2 * t], x[2 * t + 1], scales[2 * i], scales[2 * i + 1], token_scales,
                                     start, sums[p][t][i]);
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
    const MatmulWork work = work_of(a);
    if (work.tokens <= 0)
        return;  // the whole block
    if (const int token = int(threadIdx.x); token < kMatmulTokens)
        shared.out_row[token] = rows_of(a, work, token).out;
    if (threadIdx.x < 4)
        shared.start[threadIdx.x] = kIntegerBits;

    const int first_row = int(blockIdx.y) * kMatmulRows;
    const int row = warp() % kRowWarps<Block> * 16 * kRowTiles<Block>;
    // Warps take pairs in turns, so that more of them have work where tokens are few.
    const int pair = of_first_lane(warp() / kRowWarps<Block>);
    const int live = of_first_lane(work.tokens);
    Activations<Block> activations(a, work);
    Weights<Block> weights(a, work, first_row);

    // What rounding lost is multiplied by the same weights: every second part then, after the activations of its step.
    const unsigned parts_bits = a.residual ? 1 : 0;
    const unsigned parts = (unsigned(a.n / 32 + kGroups - 1) / kGroups) << parts_bits;
    float sums[kPairs<Block>][2][kRowTiles<Block>][4] = {};
    activations.copy(shared.tokens[0], 0, 0);
    commit_copies();
    weights.read(0);
    weights.unpack(shared.rows[0]);
    __syncthreads();
    int start[4];
    read_unknown(start, shared.start);
    for (unsigned part = 0; part < parts; ++part) {
        const unsigned next = part + 1;
        const unsigned next_step = next >> parts_bits;
        const bool other_weights = next < parts && (next & parts_bits) == 0;
        wait_for_copies<0>();
        __syncthreads();  // this part is here, and the one before has been used
        if (next < parts) {
            activations.copy(shared.tokens[next % 2], next_step, next & parts_bits ? a.residual - a.x : 0);
            commit_copies();
        }
        if (other_weights)
            weights.read(next_step * kGroups);
        multiply<Block>(shared.rows[(part >> parts_bits) % 2], shared.tokens[part % 2], row, pair, live, start, sums);
        if (other_weights)
            weights.unpack(shared.rows[next_step % 2]);
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
