// Joins the partials of all KV blocks into attention's result, wherever they were computed: a thread block a head. The
// order of the additions depends on the numbers of the blocks only.
#include "kernels/cuda/attend.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/reduce.cuh"

using namespace kernels::cuda;

// grid: (heads, rows)
extern "C" __global__ void __launch_bounds__(kAttendThreads) merge_partials(const MergeArguments a)
{
    __shared__ float4 part_quads[kAttendThreads];
    __shared__ float sums[kAttendThreads];
    const int head = int(blockIdx.x);
    const int row = int(blockIdx.y);
    const int seen = *a.first + row + 1;
    const int oldest = a.window.oldest_seen(seen - 1);
    const int first_block = oldest / a.block_tokens;
    const int end_block = (seen + a.block_tokens - 1) / a.block_tokens;
    const float* of_host = a.host_partials + std::size_t(row) * std::size_t(a.heads * (2 + a.v_dim));
    const int parts_in_all = end_block + (a.host_partials ? 1 : 0);  // the last one is the host's
    const auto is_here = [&](int b) { return b == end_block || a.blocks[b] != 0; };
    const auto partial = [&](int b) {
        return (std::size_t(row) * std::size_t(a.max_blocks) + std::size_t(b)) * std::size_t(a.heads) +
               std::size_t(head);
    };
    const auto max_of = [&](int b) { return b < end_block ? a.max[partial(b)] : of_host[head]; };
    const auto sum_of = [&](int b) { return b < end_block ? a.sum[partial(b)] : of_host[a.heads + head]; };
    const auto out_of = [&](int b) {
        const float* out =
            b < end_block ? a.partials + partial(b) * std::size_t(a.v_dim) : of_host + 2 * a.heads + head * a.v_dim;
        return reinterpret_cast<const float4*>(out);
    };

    // A sink is one more logit in the softmax, without a value.
    float largest = a.sinks ? a.sinks[head] : -INFINITY;
    for (int b = first_block + int(threadIdx.x); b < parts_in_all; b += kAttendThreads)
        if (is_here(b))
            largest = fmaxf(largest, max_of(b));
    largest = block_max(largest);

    // Four values a thread; the threads that are left take other blocks.
    const int quads = a.v_dim / 4;
    const int across = kAttendThreads / quads;
    const int quad = int(threadIdx.x) % quads;
    const int slot = int(threadIdx.x) / quads;
    float sum = 0.0f;
    float4 out = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (slot < across) {
#pragma unroll 4
        for (int b = first_block + slot; b < parts_in_all; b += across) {
            if (!is_here(b))
                continue;
            const float weight = expf(max_of(b) - largest);
            const float4 v = out_of(b)[quad];
            sum += weight * sum_of(b);
            out.x += weight * v.x;
            out.y += weight * v.y;
            out.z += weight * v.z;
            out.w += weight * v.w;
        }
        part_quads[slot * quads + quad] = out;
        if (quad == 0)
            sums[slot] = sum;
    }
    __syncthreads();
    const auto* parts = reinterpret_cast<const float*>(part_quads);
    float total = a.sinks ? expf(a.sinks[head] - largest) : 0.0f;
    for (int s = 0; s < across; ++s)
        total += sums[s];
    float* to = a.out + std::size_t(row) * std::size_t(a.out_stride) + std::size_t(head * a.v_dim);
    for (int d = int(threadIdx.x); d < a.v_dim; d += kAttendThreads) {
        float value = 0.0f;
        for (int s = 0; s < across; ++s)
            value += parts[s * a.v_dim + d];
        to[d] = value / total;
    }
}
EMULATED(merge_partials);
