// Products of packed weights with many tokens' activations on tensor cores. A thread block takes 64 weight rows and 128
// tokens, 64 weights of each row at a time, which are unpacked to bytes in shared memory once for all tokens. While
// tensor cores multiply one step's bytes, the next step's are on their way. Within a group the products are summed
// exactly, as integers; scales follow group by group, in the order of the groups. What has an offset is multiplied
// first.
#include "kernels/cpu/q8_layout.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/matmul.h"
#include "kernels/cuda/matmul_offsets.cuh"
#include "kernels/cuda/matmul_tiles.cuh"
#include "kernels/cuda/matmul_work.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kStep = 64;            // weights of a row in shared memory
constexpr int kGroups = kStep / 32;  // groups of 32 in a step
constexpr int kPieces = kStep / 16;  // what threads and banks of shared memory take at once

static_assert(kMatmulThreads == kMatmulRows * kPieces);

/// Holds the scales of a row's group of weights, and of the first what scaled_float_of_bits wants of it.
template <class Block>
struct RowScales {
    float first, no_integer, second, unused;
};
template <class Block>
requires(!kScaleOf16<Block>) struct RowScales<Block> {
    float first, no_integer;
};

/// Holds what is multiplied in a step. Rows of 64 bytes lie without gaps; address_in says how.
template <class Block>
struct RowStage {
    std::byte weights[kMatmulRows * kStep];
    __align__(16) RowScales<Block> scales[kGroups][kMatmulRows];
};
struct TokenStage {
    std::byte x[kMatmulTokens * kStep];
    __align__(16) float scales[kGroups][kMatmulTokens];
};

template <class Block>
struct Stages {
    RowStage<Block> rows[2];
    TokenStage tokens[2];
};
template <class Block>
struct Shared {
    union {
        Stages<Block> stages;
        OffsetStage offsets;
    };
    __align__(16) int start[4];  // kIntegerBits
    int out_row[kMatmulTokens];  // of each token; -1: there is no such token
};

/// Returns how many bytes from its begin 16 bytes of a row of a stage are. Eight rows' are in different banks. The
/// piece that is two further on, or two back, is at place ^ 32, and that of eight rows further on 8 * kStep bytes
/// behind.
__device__ inline int place_in_stage(int row, int piece)
{
    return row * kStep + 16 * (piece ^ (row / 2 % kPieces));
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
    __device__ Activations(const MatmulArguments& a, const MatmulWork& work, const std::byte* x)
        : groups_(a.n / 32)
        , tokens_(work.tokens)
    {
        const auto row_of = [&](int token) { return x + std::size_t(max(rows_of(a, work, token).x, 0)) * a.x_stride; };
        for (int i = 0; i < kTokens; ++i)
            values_[i] = row_of(token(i)) + 16 * piece();
        scales_ = row_of(scaled_token()) + kernels::Q8Layout(a.n).scale + 4 * own_group();
    }

    /// Copies those of the step that is this many ahead of where this stands, at first the row's first. What lies
    /// beyond the row becomes zero; tokens that there are not keep what was there.
    __device__ void copy(TokenStage& to, int ahead) const
    {
        const int left = groups_ - ahead * kGroups;
#pragma unroll
        for (int i = 0; i < kTokens; ++i)
            copy_async_if<16>(token(i) < tokens_, to.x + (place_in_stage(token(0), piece()) + i * kApart * kStep),
                              values_[i] + ahead * kStep, !kHasTail<Block> || left > piece() / 2);
        const bool wanted = scaled_token() < tokens_;
        const bool there = !kHasTail<Block> || left > own_group();
        copy_async_if<4>(wanted, &to.scales[own_group()][scaled_token()], scales_ + ahead * (4 * kGroups), there);
    }
    __device__ void move_on(int steps)
    {
        groups_ -= steps * kGroups;
#pragma unroll
        for (int i = 0; i < kTokens; ++i)
            values_[i] += steps * kStep;
        scales_ += steps * (4 * kGroups);
    }

private:
    static constexpr int kTokens = kMatmulTokens * kPieces / kMatmulThreads;
    static constexpr int kApart = kMatmulThreads / kPieces;
    static_assert(kMatmulThreads == kGroups * kMatmulTokens && kApart % 8 == 0);
    static __device__ int piece()
    {
        return int(threadIdx.x) % kPieces;
    }
    static __device__ int token(int i)
    {
        return int(threadIdx.x) / kPieces + i * kApart;
    }
    static __device__ int own_group()
    {
        return int(threadIdx.x) % kGroups;
    }
    static __device__ int scaled_token()
    {
        return int(threadIdx.x) / kGroups;
    }

    const std::byte* values_[kTokens];
    const std::byte* scales_;
    int groups_;  // that are left of the row
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
    static __device__ bool has(unsigned /*stage*/) { return true; }
    __device__ void read(unsigned first_group)
    {
        group_ = first_group + unsigned(piece()) / 2;
        if (inside())
            read_ = Pieces<Block>::read(block(), sub(), piece() % 2);
    }
    __device__ void unpack(RowStage<Block>& to, unsigned) const
    {
        Piece p{{0, 0, 0, 0}, 0.0f, 0.0f};
        if (inside())
            p = Pieces<Block>::unpack(read_, block(), sub(), piece() % 2);
        *reinterpret_cast<uint4*>(to.weights + place_in_stage(row(), piece())) =
            make_uint4(p.q[0], p.q[1], p.q[2], p.q[3]);
        RowScales<Block>& scales = to.scales[piece() / 2][row()];
        if (piece() % 2 == 0)
            reinterpret_cast<float2&>(scales) = make_float2(p.scale, p.scale * -kIntegerOne);
        else if constexpr (kScaleOf16<Block>)
            scales.second = p.scale;
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

/// Says of a type that each 16 bytes hold 16 weights of either group of a step, and that its rows have an even number
/// of steps. It is not said of Q5_K: the fifth bits of its weights take too many registers.
template <class Block>
constexpr bool kGroupsShareBytes = false;
template <>
inline constexpr bool kGroupsShareBytes<kernels::BlockQ4_K> = true;

/// A thread's share of such weights: two pieces of a row in every second step, which it reads at once, and the scale of
/// a group. Half of the warps have the even steps, and half the odd ones.
template <class Block>
requires kGroupsShareBytes<Block>
class Weights<Block>
{
public:
    __device__ Weights(const MatmulArguments& a, const MatmulWork& work, int first_row)
        : row_(work.weights + std::size_t(min(first_row + row(), a.rows - 1)) * a.row_bytes)
        , place_(place_in_stage(row(), half()))
        , stage_(unsigned(of_first_lane(warp() / kWarps)))
    {
    }
    /// Whether the warp has weights of the steps that come to a stage.
    __device__ bool has(unsigned stage) const { return stage == stage_; }
    __device__ void read(unsigned first_group)
    {
        read_ = Pieces<Block>::read(block(first_group), sub(first_group), half());
    }
    __device__ void unpack(RowStage<Block>& to, unsigned first_group) const
    {
        const Block& from = block(first_group);
        const int first = sub(first_group);
#pragma unroll
        for (int g = 0; g < kGroups; ++g) {
            const Piece p = Pieces<Block>::unpack(read_, from, first + g, half());
            *reinterpret_cast<uint4*>(to.weights + (place_ ^ (32 * g))) = make_uint4(p.q[0], p.q[1], p.q[2], p.q[3]);
        }
        const float scale = Pieces<Block>::unpack(read_, from, first + half(), half()).scale;
        reinterpret_cast<float2&>(to.scales[half()][row()]) = make_float2(scale, scale * -kIntegerOne);
    }

private:
    static constexpr unsigned kInBlock = kBlockGroups<Block>;
    static constexpr int kWarps = kMatmulThreads / kWarp / 2;  // that have the same steps
    static_assert(kWarps * kWarp == 2 * kMatmulRows && kInBlock % (2 * kGroups) == 0);
    static __device__ int half()
    {
        return lane() % 2;
    }
    // Eight lanes have four rows, so chosen that what they write to shared memory is in different banks.
    static __device__ int row()
    {
        return warp() % kWarps * 16 + lane() / 16 * 8 + lane() / 4 % 2 * 4 + lane() / 8 % 2 * 2 + lane() / 2 % 2;
    }
    const __device__ Block& block(unsigned group) const
    {
        return reinterpret_cast<const Block*>(row_)[group / kInBlock];
    }
    static __device__ int sub(unsigned group)
    {
        return int(group % kInBlock / kGroups * kGroups);
    }

    const std::byte* row_;
    int place_;
    unsigned stage_;
    typename Pieces<Block>::Read read_{};
};

// ---- products ----

template <class Block>
__device__ inline RowScales<Block> taken_at_once(const RowScales<Block>& from)
{
    using Words = std::conditional_t<kScaleOf16<Block>, float4, float2>;
    const Words words = reinterpret_cast<const Words&>(from);
    if constexpr (kScaleOf16<Block>)
        return {words.x, words.y, words.z, words.w};
    else
        return {words.x, words.y};
}

// Adds the products of a group of 16 rows and 8 tokens. w, x: as multiply_bytes takes them; rows: the lane's two;
// token_scales: of its two tokens
template <class Block>
__device__ inline void add_group(const std::uint32_t (&w)[4], std::uint32_t x0, std::uint32_t x1,
                                 const RowScales<Block>& row0, const RowScales<Block>& row1, const float2& token_scales,
                                 const int (&start)[4], float (&sums)[4])
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
        float weighted = scaled_float_of_bits(products[0][i], row.first, row.no_integer);
        if constexpr (kScaleOf16<Block>)
            weighted += row.second * float_of_bits(products[1][i]);
        sums[i] += weighted * (i % 2 ? token_scales.y : token_scales.x);
    }
}

/// Where a lane finds in a stage what it loads for the first tile and pair of its warp, and the first group.
template <class Block>
struct LanePlaces {
    int weights, tokens;           // bytes
    int row_scales, token_scales;  // numbers of a row and of a token

    __device__ explicit LanePlaces(const WarpTiles<Block>& tiles)
        : weights(place_in_stage(tiles.row + lane() % 16, lane() / 16))
        , tokens(place_in_stage(tiles.token(0) + lane() / 16 * 8 + lane() % 8, lane() / 8 % 2))
        , row_scales(tiles.row + lane() / 4)
        , token_scales(tiles.token(0) + lane() % 4 * 2)
    {
    }
};

// A step's products.
template <class Block>
__device__ inline void multiply(const RowStage<Block>& rows, const TokenStage& tokens, const LanePlaces<Block>& places,
                                int pairs, const int (&start)[4], TileSums<Block>& sums)
{
#pragma unroll
    for (int g = 0; g < kGroups; ++g) {
        std::uint32_t w[kRowTiles<Block>][4];
#pragma unroll
        for (int i = 0; i < kRowTiles<Block>; ++i)
            load_matrices(w[i], rows.weights + ((places.weights ^ (32 * g)) + 16 * i * kStep));
        RowScales<Block> scales[2 * kRowTiles<Block>];
#pragma unroll
        for (int i = 0; i < 2 * kRowTiles<Block>; ++i)
            scales[i] = taken_at_once(rows.scales[g][places.row_scales + 8 * i]);
#pragma unroll
        for (int p = 0; p < kPairs<Block>; ++p) {
            if (p >= pairs)
                break;  // the whole warp
            std::uint32_t x[4];
            load_matrices(x, tokens.x + ((places.tokens ^ (32 * g)) + p * kPairsApart<Block> * kStep));
#pragma unroll
            for (int t = 0; t < 2; ++t) {
                const float2 token_scales = *reinterpret_cast<const float2*>(
                    &tokens.scales[g][places.token_scales + p * kPairsApart<Block> + 8 * t]);
#pragma unroll
                for (int i = 0; i < kRowTiles<Block>; ++i)
                    add_group<Block>(w[i], x[2 * t], x[2 * t + 1], scales[2 * i], scales[2 * i + 1], token_scales,
                                     start, sums[p][t][i]);
            }
        }
    }
}

// The products of all weights of the thread block's rows. x: the activations of its tokens' first row
template <class Block>
__device__ inline void multiply_all(const MatmulArguments& a, const MatmulWork& work, const std::byte* x, int first_row,
                                    Shared<Block>& shared, const WarpTiles<Block>& tiles, TileSums<Block>& sums)
{
    Stages<Block>& stages = shared.stages;
    Activations<Block> activations(a, work, x);
    Weights<Block> weights(a, work, first_row);
    const unsigned steps = unsigned(a.n / 32 + kGroups - 1) / kGroups;
    activations.copy(stages.tokens[0], 0);
    commit_copies();
    if (weights.has(0)) {
        weights.read(0);
        weights.unpack(stages.rows[0], 0);
    }
    __syncthreads();
    const LanePlaces<Block> places(tiles);
    int start[4];
    read_unknown(start, shared.start);
    for (unsigned first = 0; first < steps; first += 2) {
#pragma unroll
        for (unsigned stage = 0; stage < 2; ++stage) {
            const unsigned next = first + stage + 1;
            if (!kGroupsShareBytes<Block> && next > steps)
                break;
            const bool more = (kGroupsShareBytes<Block> && stage == 0) || next < steps;
            wait_for_copies<0>();
            __syncthreads();  // this step is here, and the one before has been used
            if (more) {
                activations.copy(stages.tokens[1 - stage], int(stage) + 1);
                commit_copies();
            }
            const bool unpacks = more && weights.has(1 - stage);
            if (unpacks)
                weights.read(next * kGroups);
            multiply<Block>(stages.rows[stage], stages.tokens[stage], places, tiles.pairs, start, sums);
            if (unpacks)
                weights.unpack(stages.rows[1 - stage], next * kGroups);
        }
        activations.move_on(2);
    }
}

// grid: (ceil(tokens / kMatmulTokens), ceil(rows / kMatmulRows), heads); with experts: (of the most that one gets, ,
// experts). Tokens come first, so that thread blocks that run at the same time share weights: from memory they come
// once.
template <class Block>
__device__ void matmul(const MatmulArguments& a)
{
    static_assert(sizeof(Shared<Block>) <= kMatmulSharedBytes);
    Shared<Block>& shared = *reinterpret_cast<Shared<Block>*>(dynamic_shared());
    MatmulWork work = work_of(a);
    if (work.tokens <= 0)
        return;  // the whole block
    if (const int token = int(threadIdx.x); token < kMatmulTokens)
        shared.out_row[token] = rows_of(a, work, token).out;
    if (threadIdx.x < 4)
        shared.start[threadIdx.x] = kIntegerBits;

    const WarpTiles<Block> tiles(work.tokens);
    TileSums<Block> sums = {};
    for (int lost = 0; lost < (a.residual ? 2 : 1); ++lost) {
        work = work_of(a, computed_anew(int(blockIdx.z)));
        const std::byte* x = (lost ? a.residual : a.x) + work.x;
        const int first_row = computed_anew(int(blockIdx.y)) * kMatmulRows;
        __syncthreads();  // shared memory has been used
        if constexpr (kHasOffset<Block>)
            add_offsets<Block>(a, work, x, first_row, shared.offsets, tiles, sums);
        multiply_all<Block>(a, work, x, first_row, shared, tiles, sums);
    }

    work = work_of(a, computed_anew(int(blockIdx.z)));
    const int first_row = computed_anew(int(blockIdx.y)) * kMatmulRows;
#pragma unroll
    for (int i = 0; i < 4 * kPairs<Block>; ++i) {
        const int p = i / 4;
        const int t = i / 2 % 2;
        const int odd = i % 2;
        const int out_row = shared.out_row[tiles.token(p) + 8 * t + lane() % 4 * 2 + odd];
        if (out_row < 0)
            continue;
        float* out = a.out + work.out + std::size_t(out_row) * std::size_t(a.out_stride);
#pragma unroll
        for (int eight = 0; eight < 2 * kRowTiles<Block>; ++eight) {
            const int r = first_row + tiles.row + 8 * eight + lane() / 4;
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
