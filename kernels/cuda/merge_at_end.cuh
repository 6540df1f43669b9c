// Joins the partials of a thread block's heads at the end of the launch that made them: what the kernel merge_partials
// makes of them, to the bit. The thread block that ends last does it, so a launch of its own is saved.
#pragma once

#include "kernels/cuda/attend.h"
#include "kernels/cuda/last_block.cuh"
#include "kernels/cuda/next_read.cuh"
#include "kernels/cuda/q8_rows.cuh"
#include "kernels/cuda/quads.cuh"
#include "kernels/cuda/reduce.cuh"

namespace kernels::cuda {

/// Query heads [first, first + count) of a KV head, which a thread block of a kernel for `heads` of them takes.
struct HeadsOfBlock {
    int kv_head, first, count;
    __device__ HeadsOfBlock(const AttendArguments& a, int heads, int block)
    {
        const int passes = (a.group + heads - 1) / heads;
        kv_head = block / passes;
        first = kv_head * a.group + block % passes * heads;
        count = min(heads, (kv_head + 1) * a.group - first);
    }
};

/// Joins the partials of a thread block's heads and row. Pieces are counted from the first one that the row sees.
///
/// The sums have the same bits as those of the kernel merge_partials, since they are added in the same order. There
/// each of the kMergeSlots slots adds up every kMergeSlots-th piece, each warp has four slots, and the warps' sums are
/// added one after another; the sums of exponentials are divided among all threads of the block in the same way. Here
/// a thread has four values and does for them what all slots do there, and a warp has the exponentials of a head.
class MergeAtEnd
{
public:
    /// heads: that a thread block of the kernel takes
    __device__ MergeAtEnd(const AttendArguments& a, int heads)
        : a_(a)
        , most_heads_(heads)
        , row_(computed_anew(int(blockIdx.z)))
        , heads_(a, heads, computed_anew(int(blockIdx.x)))
        , all_heads_(a.kv_heads * a.group)
        , seen_(*a.first + row_ + 1)
        , pieces_(a.window.oldest_seen(seen_ - 1), seen_, a.layout.tokens, a.many_pieces)
        , count_(pieces_.end - pieces_.begin)
        , weights_(reinterpret_cast<float*>(dynamic_shared()))
        , largest_(weights_ + heads * kWeights)
        , total_(largest_ + heads)
    {
    }
    /// All threads of the block call it. What was in its dynamic shared memory is lost.
    __device__ void merge() const;

private:
    static constexpr int kWarps = kMergeThreads / kWarp;  // of that kernel
    static constexpr int kSlots = kMergeSlots / kWarps;   // of each
    static constexpr int kWeights = kMergeThreads;        // of a head that lie in shared memory
    // Each slot has a piece in each turn. Where not all weights find room, those of one warp's slots lie there, of so
    // many turns at a time.
    static constexpr int kTurns = kWeights / kSlots;
    static_assert(kSlots == 4 && kTurns >= kWeights / kMergeSlots);

    /// Values that are added up, warp by warp of that kernel, and of each turn by turn.
    struct Turns {
        const float4* values;  // of the first warp's first slot
        int stride;            // from one piece to the next
        const float4* weights;
        int weights_stride;  // from one turn to the next; one from warp to warp
        int warps, turns;
        bool ends;  // their sums are complete
    };

    __device__ bool is_here(int piece) const
    {
        const int p = pieces_.begin + piece;
        return piece < count_ && pieces_.offset_of(p) < a_.layout.tokens && a_.blocks[pieces_.block_of(p)] != 0;
    }
    /// The first of the head's numbers; the pieces' follow each other.
    __device__ const float* of_head(const float* sums, int h) const
    {
        const auto head = std::size_t(row_) * std::size_t(all_heads_) + std::size_t(heads_.first + h);
        return sums + head * std::size_t(a_.max_pieces) + std::size_t(pieces_.slot(pieces_.begin));
    }
    __device__ void add_sums(int h) const;
    __device__ float add_few(int h, float& largest) const;
    __device__ float add_many(int h, float& largest) const;
    __device__ void put_weights(int first, int turn) const;
    __device__ void put(int quad, int quads) const;
    __device__ void write(const float4& sum, int quad, int head, bool live) const;
    __device__ static void add_turns(const Turns& t, float4 (&sums)[kSlots], float4& value);

    const AttendArguments& a_;
    const int most_heads_;
    const int row_;
    const HeadsOfBlock heads_;
    const int all_heads_;
    const int seen_;
    const SeenPieces pieces_;
    const int count_;
    float* const weights_;  // (most_heads_, kWeights)
    float* const largest_;  // (most_heads_,)
    float* const total_;    // (most_heads_,)
};

__device__ inline void MergeAtEnd::merge() const
{
#pragma unroll 1
    for (int h = warp(); h < heads_.count; h += kAttendThreads / kWarp)
        add_sums(h);
    __syncthreads();
    const int quads = heads_.count * a_.layout.v_dim / 4;
#pragma unroll 1
    for (int first = 0; first < quads; first += kAttendThreads)
        put(first + int(threadIdx.x), quads);
}

// ---- exponentials ----

/// The largest score of a head, the sum of all exponentials, and where all find room the pieces' weights: a warp's
/// work.
__device__ inline void MergeAtEnd::add_sums(int h) const
{
    const float sink = a_.at_end.sinks ? a_.at_end.sinks[heads_.first + h] : -INFINITY;
    float largest = sink;
    const float of_warp = count_ <= kWeights ? add_few(h, largest) : add_many(h, largest);
    const float total = warp_sum(of_warp);
    if (lane() == 0) {
        largest_[h] = largest;
        total_[h] = total + (a_.at_end.sinks ? expf(sink - largest) : 0.0f);
    }
}

/// Returns to lane i the sum that the kernel's warp i has. `largest` begins as what the sink says.
__device__ inline float MergeAtEnd::add_few(int h, float& largest) const
{
    const float* max = of_head(a_.max, h);
    const float* sum = of_head(a_.sum, h);
    float maxima[kWarps], sums[kWarps];
    unsigned here = 0;
#pragma unroll
    for (int i = 0; i < kWarps; ++i) {
        const int piece = i * kWarp + lane();
        const int at = piece < count_ ? piece : 0;
        here |= unsigned(is_here(piece)) << i;
        maxima[i] = read_of_others(max + at);
        sums[i] = read_of_others(sum + at);
    }
#pragma unroll
    for (int i = 0; i < kWarps; ++i)
        largest = here >> i & 1u ? fmaxf(largest, maxima[i]) : largest;
    largest = warp_max(largest);
#pragma unroll
    for (int i = 0; i < kWarps; ++i) {
        const float weight = here >> i & 1u ? expf(maxima[i] - largest) : 0.0f;
        weights_[h * kWeights + i * kWarp + lane()] = weight;
        sums[i] = weight > 0.0f ? __fmul_rn(weight, sums[i]) : 0.0f;
    }
    float of_warp = 0.0f;
#pragma unroll
    for (int i = 0; i < kWarps; ++i)
        if (const float of_all = warp_sum(sums[i]); lane() == i)
            of_warp = of_all;
    return of_warp;
}

/// The same of any number of pieces, without their weights.
__device__ inline float MergeAtEnd::add_many(int h, float& largest) const
{
    const float* max = of_head(a_.max, h);
    const float* sum = of_head(a_.sum, h);
#pragma unroll 4
    for (int piece = lane(); piece < count_; piece += kWarp)
        largest = is_here(piece) ? fmaxf(largest, read_of_others(max + piece)) : largest;
    largest = warp_max(largest);
    float of_warp = 0.0f;
#pragma unroll 1
    for (int i = 0; i < kWarps; ++i) {
        float own = 0.0f;
#pragma unroll 1
        for (int piece = i * kWarp + lane(); piece < count_; piece += kMergeThreads) {
            const float weight = is_here(piece) ? expf(read_of_others(max + piece) - largest) : 0.0f;
            if (weight > 0.0f)
                own = __fmaf_rn(weight, read_of_others(sum + piece), own);
        }
        if (const float of_all = warp_sum(own); lane() == i)
            of_warp = of_all;
    }
    return of_warp;
}

/// Puts the weights of slots [first, first + kSlots) into shared memory, of kTurns turns from `turn` on.
__device__ inline void MergeAtEnd::put_weights(int first, int turn) const
{
    __syncthreads();  // the last ones have been used
#pragma unroll 1
    for (int i = int(threadIdx.x); i < heads_.count * kWeights; i += kAttendThreads) {
        const int h = i / kWeights;
        const int piece = (turn + i % kWeights / kSlots) * kMergeSlots + first + i % kSlots;
        weights_[i] = is_here(piece) ? expf(read_of_others(of_head(a_.max, h) + piece) - largest_[h]) : 0.0f;
    }
    __syncthreads();
}

// ---- values ----

/// Joins four values of a head: quad `quad` of the heads' `quads`, where it is one of them.
__device__ inline void MergeAtEnd::put(int quad, int quads) const
{
    const int v_quads = a_.layout.v_dim / 4;
    const int head = quad < quads ? quad / v_quads : 0;
    const int stride = all_heads_ * v_quads;
    const auto first_partial =
        std::size_t(row_) * std::size_t(a_.max_pieces) + std::size_t(pieces_.slot(pieces_.begin));
    const float4* values = reinterpret_cast<const float4*>(a_.out) + first_partial * std::size_t(stride) +
                           (heads_.first * v_quads + (quad < quads ? quad : 0));
    const auto* weights = reinterpret_cast<const float4*>(weights_ + head * kWeights);
    const bool all = count_ <= kWeights;
    const int turns = (count_ + kMergeSlots - 1) / kMergeSlots;
    const int warps = min((count_ + kSlots - 1) / kSlots, kWarps);
    float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 1
    for (int w = 0; w < warps; w += all ? warps : 1) {
        float4 sums[kSlots] = {};
#pragma unroll 1
        for (int turn = 0; turn < turns; turn += kTurns) {
            if (!all)  // what it needs is computed anew, and takes no registers until then
                MergeAtEnd(a_, most_heads_).put_weights(w * kSlots, turn);
            add_turns({values + (turn * kMergeSlots + w * kSlots) * stride, stride, weights, all ? kWarps : 1,
                       all ? warps : 1, min(turns - turn, kTurns), turn + kTurns >= turns},
                      sums, value);
        }
    }
    MergeAtEnd(a_, most_heads_).write(value, quad, head, quad < quads);
}

__device__ inline void MergeAtEnd::write(const float4& sum, int quad, int head, bool live) const
{
    const float total = total_[head];
    const float4 value = make_float4(sum.x / total, sum.y / total, sum.z / total, sum.w / total);
    const int column = heads_.first * (a_.layout.v_dim / 4) + quad;
    float* to = a_.at_end.out + std::size_t(row_) * std::size_t(a_.at_end.out_stride);
    if (live)
        reinterpret_cast<float4*>(to)[column] = value;
    put_rounded(value, column, live, all_heads_ * a_.layout.v_dim, a_.at_end.rounded, row_);
}

/// Adds them to the slots' sums, and these to `value` where they are complete. Two turns' are always under way.
__device__ inline void MergeAtEnd::add_turns(const Turns& t, float4 (&sums)[kSlots], float4& value)
{
    constexpr int kAhead = 2;
    float4 v[kAhead][kSlots], weights[kAhead];
    int to_load = t.warps * t.turns, to_add = to_load, loaded = 0, added = 0;
    int at = 0, weight = 0, of_warp = 0;
    const auto load = [&](float4(&to)[kSlots], float4& w) {
        if (to_load == 0)
            return;  // the same for all threads
        --to_load;
        w = t.weights[weight];
        const float each[] = {w.x, w.y, w.z, w.w};
#pragma unroll
        for (int s = 0; s < kSlots; ++s)
            if (each[s] > 0.0f)
                to[s] = read_of_others(t.values + (at + s * t.stride));
        at += kMergeSlots * t.stride;
        weight += t.weights_stride;
        if (++loaded == t.turns) {
            loaded = 0;
            weight = ++of_warp;
            at = of_warp * kSlots * t.stride;
        }
    };
#pragma unroll
    for (int i = 0; i < kAhead; ++i)
        load(v[i], weights[i]);
#pragma unroll 1
    for (;;) {
#pragma unroll
        for (int i = 0; i < kAhead; ++i) {
            const float each[] = {weights[i].x, weights[i].y, weights[i].z, weights[i].w};
#pragma unroll
            for (int s = 0; s < kSlots; ++s)
                if (each[s] > 0.0f)
                    add_product(sums[s], each[s], v[i][s]);
            load(v[i], weights[i]);
            if (++added == t.turns && t.ends) {
                added = 0;
                add(value, sum_of(sum_of(sums[0], sums[1]), sum_of(sums[2], sums[3])));
#pragma unroll
                for (float4& sum : sums)
                    sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            }
            if (--to_add == 0)
                return;
        }
    }
}

/// Ends a thread block that has attended its pieces. heads: that a thread block of the kernel takes
__device__ CALLED inline void merge_at_end(const AttendArguments& a, int heads)
{
    ask_for_next(a.at_end.next, (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x);
    if (is_last_block(a.at_end.counters + int(blockIdx.z) * int(gridDim.x) + int(blockIdx.x), gridDim.y))
        MergeAtEnd(a, heads).merge();
}

}  // namespace kernels::cuda
