// Multiplies a matrix with few tokens' activations, where reading the weights is what takes the time: a warp takes a
// row, its lanes take slices of it in turn, and what is read is used for all tokens. A token's sum is made in the same
// order however many there are. With experts each pair is a token by itself, and reads its own expert's row.
#pragma once

#include "kernels/cpu/q8_layout.h"
#include "kernels/cuda/matvec.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/slices.cuh"
#include "kernels/packed_types.h"

namespace kernels::cuda {

// ---- packed weights, 8-bit activations ----

template <class Block>
struct PackedWeights {
    using Type = Slices<Block>;
    using Taken = Slice;
    static constexpr int kStep = kSliceStep<Block>;
    static constexpr bool kAligned = sizeof(Block) % 16 == 0;  // then rows are aligned to 16 bytes, as matrices are
    static constexpr int kBlocks = Type::kByTables ? kWideMatvecBlocks : kMatvecBlocks;
    static constexpr bool kInManyModels = !Type::kByTables;

    static constexpr int kOfSum = Type::kOneGroup ? 32 : 16;  // activations to a sum

    static __device__ int slices(int n) { return n / 32; }
    static __device__ Taken take(const std::byte* step, unsigned lane) { return Type::take(step, lane); }

    /// Says where in a row of 8-bit activations those are that a lane's slices of each step are multiplied with.
    struct Place {
        const std::byte* q;
        const std::byte* scale;
        const std::byte* sum;  // floats for weights with an offset, integers for those with a centre
        __device__ Place at(std::ptrdiff_t bytes) const { return {q + bytes, scale + bytes, sum + bytes}; }
        __device__ Place after(int steps) const
        {
            return {q + 1024 * steps, scale + 1024 / 32 * 4 * steps, sum + 1024 / kOfSum * 4 * steps};
        }
    };
    static __device__ Place place_of_row(const std::byte* x, int n)
    {
        const Q8Layout at(n);
        const std::size_t sum =
            kHasOffset<Block> ? (Type::kOneGroup ? at.sum32 : at.sum16) : (Type::kOneGroup ? at.shift32 : at.shift16);
        return {x, x + at.scale, x + sum};
    }
    static __device__ Place place(const std::byte* x, int n, unsigned lane)
    {
        const Place row = place_of_row(x, n);
        const unsigned first = Type::first(lane);
        return {row.q + first, row.scale + first / 32 * 4, row.sum + first / kOfSum * 4};
    }
    /// Turns the place of the lane `from` into that of the lane `to`.
    static __device__ Place moved(const Place& place, unsigned from, unsigned to)
    {
        const auto by = [&](unsigned share) { return int(Type::first(to) / share) - int(Type::first(from) / share); };
        return {place.q + by(1), place.scale + 4 * by(32), place.sum + 4 * by(kOfSum)};
    }

    // It rounds alike in every kernel: fmaf is written out, and nothing is left to the compiler.
    static __device__ float add_dot(float sum, const Taken& w, const Place& x, int step)
    {
        constexpr bool kTwoScales = Type::kApart == 32;  // next to each other
        const auto* scales = reinterpret_cast<const float*>(x.scale) + 32 * step;
        float scale[2];
        if constexpr (kTwoScales) {
            const float2 both = *reinterpret_cast<const float2*>(scales);
            scale[0] = both.x;
            scale[1] = both.y;
        } else {
            scale[0] = scales[0];
            scale[1] = Type::kOneGroup ? scale[0] : scales[Type::kApart / 32];
        }
        int products = 0;
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const std::byte* of_sum = x.sum + (1024 / kOfSum * step + r * Type::kApart / kOfSum) * 4;
            if (Type::kCentre > 0 && (r == 0 || !Type::kOneGroup))
                products = less_centre(*reinterpret_cast<const int*>(of_sum));
            products = dot16(w.q[r], x.q + 1024 * step + r * Type::kApart, products);
            if (Type::kOneGroup && r == 0)
                continue;
            sum = fmaf(w.scale[r] * scale[r], float(products), sum);
            if (kHasOffset<Block>)
                sum = fmaf(w.offset[r], *reinterpret_cast<const float*>(of_sum), sum);
            products = 0;
        }
        return sum;
    }

private:
    /// Returns -centre times the sum of some values. shift: -128 times that sum
    static __device__ int less_centre(int shift)
    {
        constexpr int kBits = Type::kCentre == 1    ? 7
                              : Type::kCentre == 4  ? 5
                              : Type::kCentre == 8  ? 4
                              : Type::kCentre == 16 ? 3
                                                    : 2;
        static_assert(Type::kCentre == 0 || Type::kCentre == 128 >> kBits);
        return shift >> kBits;
    }
    static __device__ int dot16(const std::uint32_t (&q)[4], const std::byte* x, int products)
    {
        const uint4 values = *reinterpret_cast<const uint4*>(x);
        products = dot4(q[0], values.x, products);
        products = dot4(q[1], values.y, products);
        products = dot4(q[2], values.z, products);
        return dot4(q[3], values.w, products);
    }
};

// ---- float weights and activations: eight a lane ----

struct Eight {
    float w[8];
};

struct EightALane {
    using Taken = Eight;
    static constexpr bool kAligned = true;
    static constexpr int kBlocks = kMatvecBlocks;
    static constexpr bool kInManyModels = true;

    struct Place {
        const std::byte* values;
        __device__ Place at(std::ptrdiff_t bytes) const { return {values + bytes}; }
        __device__ Place after(int steps) const { return {values + 1024 * steps}; }
    };
    static __device__ int slices(int n) { return n / 8; }
    static __device__ Place place(const std::byte* x, int, unsigned lane) { return {x + 32 * lane}; }
    static __device__ Place moved(const Place& place, unsigned from, unsigned to)
    {
        return {place.values + 32 * (int(to) - int(from))};
    }
    static __device__ float add_dot(float sum, const Taken& w, const Place& x, int step)
    {
        const std::byte* from = x.values + 1024 * step;
        const float4 values[2] = {*reinterpret_cast<const float4*>(from), *reinterpret_cast<const float4*>(from + 16)};
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            sum = fmaf(w.w[4 * i], values[i].x, sum);
            sum = fmaf(w.w[4 * i + 1], values[i].y, sum);
            sum = fmaf(w.w[4 * i + 2], values[i].z, sum);
            sum = fmaf(w.w[4 * i + 3], values[i].w, sum);
        }
        return sum;
    }
};

template <float (*to_float)(std::uint16_t)>
struct HalfWeights : EightALane {
    static constexpr int kStep = 32 * 16;
    static __device__ Taken take(const std::byte* step, unsigned lane)
    {
        const uint4 bits = reinterpret_cast<const uint4*>(step)[lane];
        const std::uint32_t words[4] = {bits.x, bits.y, bits.z, bits.w};
        Taken t;
#pragma unroll
        for (int i = 0; i < 8; ++i)
            t.w[i] = to_float(std::uint16_t(words[i / 2] >> (16 * (i % 2))));
        return t;
    }
};

struct FloatWeights : EightALane {
    static constexpr int kStep = 32 * 32;
    static __device__ Taken take(const std::byte* step, unsigned lane)
    {
        const auto* from = reinterpret_cast<const float4*>(step) + 2 * lane;
        const float4 a = from[0];
        const float4 b = from[1];
        return {{a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w}};
    }
};

// ---- along rows ----
//
// A warp copies the weights that it will multiply to shared memory, some turns ahead, and waits only for the next turn.
// So the number of bytes under way does not depend on how many registers are left, nor the loads on how blocks are
// aligned.

constexpr int kTurnsAhead = 2;

/// Holds the turns that a warp has copied: each is `steps` steps of each of `count` rows.
template <class Weights, int count>
struct Turns {
    static constexpr int steps = Weights::kStep % 16 == 0 && count * Weights::kStep > 600 ? 1 : 2;
    static constexpr int bytes = steps * Weights::kStep;
    static_assert(bytes % 16 == 0);
    static constexpr int chunks = bytes / 16 + (Weights::kAligned ? 0 : 1);  // of 16, in which a row may begin anywhere
    uint4 at[kTurnsAhead][count][chunks];
};

/// Copies the lane's share of a turn of a row, of which `left` bytes are left from the lane's first chunk on.
template <int chunks, int first = 0>
__device__ inline void copy_turn(SharedPlace to, const std::byte* from, int left)
{
    if ((first + kWarp <= chunks || first + lane() < chunks) && 16 * first < left)
        copy_chunk<16 * first>(to, from, left - 16 * first);
    if constexpr (first + kWarp < chunks)
        copy_turn<chunks, first + kWarp>(to, from, left);
}

/// Goes along rows of `slices` slices. It calls use(k, the rows' bytes, lane, whether the lane has a slice) for all
/// steps in their order, where k is the step's number in its turn, and end_turn() after each turn. Lanes beyond the
/// rows' end take the last slice.
template <class Weights, int count, class Use, class EndTurn>
__device__ inline void walk(const std::byte* const (&rows)[count], std::size_t row_bytes, int slices,
                            Turns<Weights, count>& turns, const Use& use, const EndTurn& end_turn)
{
    using T = Turns<Weights, count>;
    constexpr int kRow = int(sizeof turns.at[0][0]);
    constexpr int kTurn = count * kRow;
    const std::byte* from[count];
    int before[count];  // bytes of the first chunk that are before the row
#pragma unroll
    for (int r = 0; r < count; ++r) {
        before[r] = Weights::kAligned ? 0 : int(reinterpret_cast<std::uintptr_t>(rows[r]) % 16);
        from[r] = rows[r] - before[r] + 16 * lane();
    }
    int left = int(row_bytes) - 16 * lane();
    const SharedPlace to = shared_place(reinterpret_cast<std::byte*>(&turns) + 16 * lane());
    const auto copy = [&](int turn) {
#pragma unroll
        for (int r = 0; r < count; ++r) {
            copy_turn<T::chunks>(to + turn + r * kRow, from[r], before[r] + left);
            from[r] += T::bytes;
        }
        left -= T::bytes;
        commit_copies();
    };
#pragma unroll
    for (int i = 0; i < kTurnsAhead; ++i)
        copy(i * kTurn);
    wait_for_previous();  // weights may be copied before that

    int turn = 0;  // bytes from the first turn to this one
#pragma unroll 1
    for (; slices > 0; slices -= 32 * T::steps) {
        wait_for_copies<kTurnsAhead - 1>();
        __syncwarp();  // the other lanes' copies have arrived, too
        const auto use_step = [&](int k, int lane, bool any) {
            const std::byte* bytes[count];
#pragma unroll
            for (int r = 0; r < count; ++r)
                bytes[r] =
                    reinterpret_cast<const std::byte*>(&turns) + turn + r * kRow + before[r] + k * Weights::kStep;
            use(k, bytes, unsigned(lane), any);
        };
        if (slices >= 32 * T::steps) {
#pragma unroll(count == 1 ? T::steps : 1)
            for (int k = 0; k < T::steps; ++k)
                use_step(k, lane(), true);
        } else {
#pragma unroll 1
            for (int k = 0; k < T::steps && 32 * k < slices; ++k)
                use_step(k, min(lane(), slices - 32 * k - 1), lane() < slices - 32 * k);
        }
        end_turn(T::steps);
        __syncwarp();  // all lanes have used the turn
        copy(turn);
        turn = turn + kTurn < kTurnsAhead * kTurn ? turn + kTurn : 0;
    }
}

// ---- kernel ----

struct Operands {
    std::size_t matrix;    // of the stack: the expert or the head
    std::size_t x_offset;  // bytes
};

/// Says which matrix and which activations belong to token `first`. With experts it is a pair, and taken alone.
__device__ inline Operands operands_of(const MatvecArguments& a, int first)
{
    const ExpertArguments& e = a.expert;
    const int x_row = e.chosen ? first / e.pairs_of_each_row : first;
    return {e.chosen ? std::size_t(e.chosen[first]) : std::size_t(blockIdx.z),
            std::size_t(x_row) * a.x_stride + std::size_t(blockIdx.z) * a.head.x};
}

/// Says whether it is known where the weights are before the kernels before this one have ended.
__device__ inline bool weights_are_known(const MatvecArguments& a)
{
    return !a.expert.chosen;
}

constexpr std::size_t kLeftOut = ~std::size_t(0);

/// Returns how many bytes after `weights` the operands' row lies. kLeftOut: the matrix is not on the device.
__device__ inline std::size_t offset_of(const MatvecArguments& a, const Operands& operands, int row)
{
    std::size_t matrix = operands.matrix * a.expert.bytes;
    if (a.expert.places)
        matrix = std::size_t(a.expert.places[operands.matrix]);
    return a.expert.places && matrix == 0 ? kLeftOut : matrix + std::size_t(row) * a.row_bytes;
}

/// Adds to each lane's sums its share of the products of some rows with a token's activations.
template <class Weights, bool has_residual, int count>
__device__ inline void multiply_rows(const MatvecArguments& a, const std::byte* const (&rows)[count],
                                     const std::byte* x, const std::byte* residual, Turns<Weights, count>& turns,
                                     float (&sums)[count])
{
    auto place = Weights::place(x, a.n, unsigned(lane()));
    const std::ptrdiff_t apart = residual - x;
    walk<Weights>(
        rows, a.row_bytes, Weights::slices(a.n), turns,
        [&](int k, const std::byte* const(&bytes)[count], unsigned at_lane, bool any) {
            const auto here = Weights::moved(place, unsigned(lane()), at_lane);
#pragma unroll
            for (int r = 0; r < count; ++r) {
                const typename Weights::Taken taken = Weights::take(bytes[r], at_lane);
                float sum = Weights::add_dot(sums[r], taken, here, k);
                if (has_residual)
                    sum = Weights::add_dot(sum, taken, here.at(apart), k);
                sums[r] = any ? sum : sums[r];
            }
        },
        [&](int steps) { place = place.after(steps); });
}

/// Joins the lanes' sums and writes the results of a row of the matrix for the tokens from `first` on.
template <int at_once>
__device__ inline void write_sums(const MatvecArguments& a, const Operands& operands, int first, int tokens, int row,
                                  const float (&sums)[at_once])
{
    const float scale = a.scale ? a.scale[operands.matrix] : 1.0f;
    const float* bias = a.bias ? a.bias + operands.matrix * std::size_t(a.rows) : nullptr;
#pragma unroll
    for (int t = 0; t < at_once; ++t) {
        const float sum = warp_sum(sums[t]) * scale;
        if (lane() == 0 && t < tokens) {
            float& out = a.out[std::size_t(first + t) * std::size_t(a.out_stride) +
                               std::size_t(int(blockIdx.z) * a.head.out + row)];
            out = (a.accumulate ? out : 0.0f) + (bias ? sum + bias[row] : sum);
        }
    }
}

// Multiplies some rows with one token. grid: (ceil(rows / kMatvecWarps), tokens, heads); block: the number of the
// thread block among the matrix's; turns: (kMatvecWarps,) in shared memory
template <class Weights>
__device__ void matvec(const MatvecArguments& a, int block, Turns<Weights, 1>* turns)
{
    const int row = block * kMatvecWarps + of_first_lane(warp());
    let_next_begin();
    if (row >= a.rows || !weights_are_known(a))
        wait_for_previous();
    if (row >= a.rows)
        return;  // the whole warp
    const int token = int(blockIdx.y);
    const Operands operands = operands_of(a, token);
    const std::size_t offset = offset_of(a, operands, row);
    if (offset == kLeftOut)
        return;  // the whole thread block
    const std::byte* x = a.x + operands.x_offset;

    const std::byte* const rows[1] = {moved(a.weights, offset)};
    float sums[1] = {};
    if (a.residual)
        multiply_rows<Weights, true>(a, rows, x, a.residual + operands.x_offset, turns[warp()], sums);
    else
        multiply_rows<Weights, false>(a, rows, x, x, turns[warp()], sums);
    write_sums(a, operands, token, 1, row, sums);
}

// ---- several matrices in one launch ----

struct PartOfLaunch {
    MatvecArguments a;  // of the matrix
    int block;          // of its own
    bool is_second_type;
};

/// Says what thread block `block` multiplies.
__device__ inline PartOfLaunch part_of(const MatvecArguments& first, const MatvecParts& parts, int block)
{
    PartOfLaunch of{first, block, false};
#pragma unroll
    for (int i = 0; i < kMostParts; ++i) {
        const MatvecPart& part = parts.part[i];
        if (i >= parts.count || block < part.first_block)
            break;
        of.a.weights = part.weights;
        of.a.row_bytes = part.row_bytes;
        of.a.scale = part.scale;
        of.a.bias = part.bias;
        of.a.out = part.out;
        of.a.rows = part.rows;
        of.block = block - part.first_block;
        of.is_second_type = part.is_second_type != 0;
    }
    return of;
}

}  // namespace kernels::cuda

// Expands KERNEL(name, Weights) for each weight type.
#define MATVEC_OF_PACKED_TYPE(Name, suffix, KERNEL, name) KERNEL(name##_##suffix, PackedWeights<kernels::Block##Name>);
#define MATVEC_OF_EACH_TYPE(KERNEL, name)                                                                              \
    KERNEL(name##_f32, FloatWeights);                                                                                  \
    KERNEL(name##_f16, HalfWeights<kernels::cuda::half_to_float>);                                                     \
    KERNEL(name##_bf16, HalfWeights<kernels::cuda::bf16_to_float>);                                                    \
    SPILLWAY_EACH_PACKED_TYPE(MATVEC_OF_PACKED_TYPE, KERNEL, name)
