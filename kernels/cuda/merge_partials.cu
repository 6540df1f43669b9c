// Joins the partials of all pieces of KV blocks into attention's result, wherever they were computed. A thread block
// joins 32 values of a head, so that many thread blocks read. The order of the additions depends on the numbers of the
// pieces only; merge_at_end.cuh has the same.
#include "kernels/cuda/attend.h"
#include "kernels/cuda/q8_rows.cuh"
#include "kernels/cuda/quads.cuh"
#include "kernels/cuda/reduce.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kQuads = kMergeValues / 4;       // of values that are joined; neighbouring lanes have them
constexpr int kSlots = kMergeSlots;            // threads that share the pieces
constexpr int kEach = kMergeThreads / kSlots;  // pieces of each, of as many as there are threads
static_assert(kWarp % kQuads == 0);

}  // namespace

// grid: (heads, ceil(v_dim / kMergeValues), rows)
extern "C" __global__ void __launch_bounds__(kMergeThreads) merge_partials(const MergeArguments a)
{
    __shared__ float weights[kMergeThreads];
    __shared__ float4 of_warps[kMergeThreads / kWarp][kQuads];
    let_next_begin();
    const int head = int(blockIdx.x);
    const int row = int(blockIdx.z);
    const int quad = int(blockIdx.y) * kQuads + int(threadIdx.x) % kQuads;
    const int slot = int(threadIdx.x) / kQuads;
    const bool live = quad < a.v_dim / 4;
    const int seen = *a.first + row + 1;
    const SeenPieces pieces(a.window.oldest_seen(seen - 1), seen, a.block_tokens, a.many_pieces);
    const int end = pieces.end + (a.host_partials ? 1 : 0);  // the last one is the host's
    const HostPartialsLayout host{a.heads, a.v_dim};
    const float* of_host = a.host_partials ? a.host_partials + std::size_t(row) * std::size_t(host.floats()) : nullptr;

    const auto is_here = [&](int p) {
        if (p >= pieces.end)
            return p < end;
        return pieces.offset_of(p) < a.block_tokens && a.blocks[pieces.block_of(p)] != 0;
    };
    const std::size_t sums = (std::size_t(row) * std::size_t(a.heads) + std::size_t(head)) * std::size_t(a.max_pieces);
    const auto max_of = [&](int p) {
        return p < pieces.end ? a.max[sums + std::size_t(pieces.slot(p))] : of_host[head];
    };
    const auto sum_of = [&](int p) {
        return p < pieces.end ? a.sum[sums + std::size_t(pieces.slot(p))] : of_host[host.sum() + head];
    };
    // For a piece that is not here this reads the values in the first piece's place, which saves a branch.
    const auto values_of = [&](int p, bool exists) {
        const int partial = exists && p < pieces.end ? pieces.slot(p) : 0;
        const std::size_t at = std::size_t(row) * std::size_t(a.max_pieces) + std::size_t(partial);
        const float* values = exists && p == pieces.end
                                  ? of_host + host.out() + head * a.v_dim
                                  : a.partials + (at * std::size_t(a.heads) + std::size_t(head)) * std::size_t(a.v_dim);
        return reinterpret_cast<const float4*>(values)[live ? quad : 0];
    };

    // No kernel writes which pieces are here, so this is read although the kernels before this one may still run.
    int own = pieces.begin + int(threadIdx.x);
    bool own_here = is_here(own);
    unsigned here = 0;
    const auto find = [&](int first) {
        here = 0;
#pragma unroll
        for (int i = 0; i < kEach; ++i)
            here |= unsigned(is_here(first + slot + i * kSlots)) << i;
    };
    find(pieces.begin);
    wait_for_previous();

    // All that one pass needs is under way before any of it is used.
    float4 values[kEach];
    const auto load = [&](int first) {
#pragma unroll
        for (int i = 0; i < kEach; ++i)
            values[i] = values_of(first + slot + i * kSlots, here >> i & 1u);
    };
    load(pieces.begin);
    float own_max = own_here ? max_of(own) : -INFINITY;
    float own_sum = own_here ? sum_of(own) : 0.0f;
    // A sink is one more logit in the softmax, without a value.
    float largest = a.sinks ? fmaxf(a.sinks[head], own_max) : own_max;
    for (int p = own + kMergeThreads; p < end; p += kMergeThreads)
        if (is_here(p))
            largest = fmaxf(largest, max_of(p));
    largest = block_max(largest);

    float sum = 0.0f;
    float4 out = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int first = pieces.begin;;) {
        const float own_weight = own_here ? expf(own_max - largest) : 0.0f;
        if (own_weight > 0.0f)
            sum = __fmaf_rn(own_weight, own_sum, sum);
        weights[threadIdx.x] = own_weight;
        __syncthreads();
#pragma unroll
        for (int i = 0; i < kEach; ++i) {
            const float weight = weights[slot + i * kSlots];
            if (weight > 0.0f)
                add_product(out, weight, values[i]);
        }
        first += kMergeThreads;
        if (first >= end)
            break;
        find(first);
        load(first);
        own = first + int(threadIdx.x);
        own_here = is_here(own);
        own_max = own_here ? max_of(own) : -INFINITY;
        own_sum = own_here ? sum_of(own) : 0.0f;
        __syncthreads();  // the weights have been used
    }

#pragma unroll
    for (int flip = kQuads; flip < kWarp; flip *= 2)
        add(out, make_float4(__shfl_xor_sync(kWholeWarp, out.x, flip), __shfl_xor_sync(kWholeWarp, out.y, flip),
                             __shfl_xor_sync(kWholeWarp, out.z, flip), __shfl_xor_sync(kWholeWarp, out.w, flip)));
    if (lane() < kQuads)
        of_warps[warp()][lane()] = out;
    const float total = block_sum(sum) + (a.sinks ? expf(a.sinks[head] - largest) : 0.0f);
    if (warp() > 0)
        return;  // the whole warp
    float4 value = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int w = 0; w < kMergeThreads / kWarp; ++w)
        add(value, of_warps[w][lane() % kQuads]);
    value = make_float4(value.x / total, value.y / total, value.z / total, value.w / total);
    const bool writes = live && lane() < kQuads;
    float* to = a.out + std::size_t(row) * std::size_t(a.out_stride) + std::size_t(head * a.v_dim);
    if (writes)
        reinterpret_cast<float4*>(to)[quad] = value;
    put_rounded(value, head * (a.v_dim / 4) + quad, writes, a.heads * a.v_dim, a.rounded, row);
}
EMULATED(merge_partials);
