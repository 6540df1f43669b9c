// Attention for a few rows (decoding) over paged KV: a thread block takes the query heads of one KV head and walks over
// KV blocks, reading each byte once for all of them. Each KV block gives a partial of its own, so a result does not
// depend on how many thread blocks share the work; merge_partials joins them. Page table and length are device memory.
#include "kernels/cuda/attend.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/reduce.cuh"

using namespace kernels::cuda;
using kernels::KvType;

namespace {

constexpr int kWarps = kAttendThreads / kWarp;

/// Tokens [first, last) of the block column at `block` of one KV head.
struct Piece {
    const std::byte* block;
    int first, last;
};

// ---- keys ----

// Sixteen bytes of K: the same four dimensions of kTokens tokens.
template <KvType type>
constexpr int kTokens = 16 / (4 * int(kernels::kv_value_bytes(type)));

template <KvType type>
__device__ void unpack_keys(const uint4& bytes, float4 (&k)[kTokens<type>])
{
    const std::uint32_t words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
    for (int t = 0; t < kTokens<type>; ++t)
        if constexpr (type == KvType::F32)
            k[t] = make_float4(__uint_as_float(words[0]), __uint_as_float(words[1]), __uint_as_float(words[2]),
                               __uint_as_float(words[3]));
        else if constexpr (type == KvType::F16)
            k[t] = make_float4(
                half_to_float(std::uint16_t(words[2 * t])), half_to_float(std::uint16_t(words[2 * t] >> 16)),
                half_to_float(std::uint16_t(words[2 * t + 1])), half_to_float(std::uint16_t(words[2 * t + 1] >> 16)));
        else
            k[t] = bytes_to_floats(words[t]);
}

// scores[g][t] for the piece's tokens: a warp takes 16 tokens at a time, whose keys lie in one run of bytes.
template <KvType type, int heads>
__device__ void score(const AttendArguments& a, const Piece& piece, const float* q, float* scores)
{
    constexpr int kLanesAcross = 16 / kTokens<type>;  // lanes that hold the same dimensions of 16 tokens
    const int k_dim = a.layout.k_dim;
    const int units = k_dim * int(kernels::kv_value_bytes(type));  // of 16 bytes, in a run
    const auto* scales = reinterpret_cast<const float*>(piece.block + a.layout.k_scales_offset());
    for (int run = piece.first / 16 + warp(); run * 16 < piece.last; run += kWarps) {
        const auto* keys = reinterpret_cast<const uint4*>(piece.block) + std::size_t(run) * std::size_t(units);
        float sums[heads][kTokens<type>] = {};
#pragma unroll(heads < 8 ? 4 : 2)
        for (int unit = lane(); unit < units; unit += kWarp) {
            float4 k[kTokens<type>];
            unpack_keys<type>(keys[unit], k);
            for (int g = 0; g < heads; ++g) {
                const float4 qg = reinterpret_cast<const float4*>(q + g * k_dim)[unit / kLanesAcross];
                for (int t = 0; t < kTokens<type>; ++t)
                    sums[g][t] += qg.x * k[t].x + qg.y * k[t].y + qg.z * k[t].z + qg.w * k[t].w;
            }
        }
        for (int g = 0; g < heads; ++g)
            for (int t = 0; t < kTokens<type>; ++t)
                for (int flip = kLanesAcross; flip < kWarp; flip *= 2)
                    sums[g][t] += __shfl_xor_sync(kWholeWarp, sums[g][t], flip);
        if (lane() < kLanesAcross)
            for (int t = 0; t < kTokens<type>; ++t) {
                const int token = run * 16 + lane() * kTokens<type> + t;
                const float scale = type == KvType::Q8_0 ? scales[token] : 1.0f;
                for (int g = 0; g < heads; ++g) {
                    const float s = sums[g][t] * scale;
                    scores[g * a.layout.tokens + token] = a.softcap > 0.0f ? a.softcap * tanhf(s / a.softcap) : s;
                }
            }
    }
}

// ---- weights ----

// scores to exp(score - largest), a warp a head; where values have scales, these are put into the weights.
template <int heads>
__device__ void weigh(const AttendArguments& a, const Piece& piece, int live_heads, float* scores, float* max,
                      float* sum)
{
    const auto* scales = reinterpret_cast<const float*>(piece.block + a.layout.v_scales_offset());
    for (int g = warp(); g < heads; g += kWarps) {
        float* s = scores + g * a.layout.tokens;
        float largest = -INFINITY;
        for (int t = piece.first + lane(); t < piece.last; t += kWarp)
            largest = fmaxf(largest, s[t]);
        largest = warp_max(largest);
        float total = 0.0f;
        for (int t = piece.first + lane(); t < piece.last; t += kWarp) {
            const float weight = expf(s[t] - largest);
            total += weight;
            s[t] = a.layout.v_type == KvType::Q8_0 ? weight * scales[t] : weight;
        }
        total = warp_sum(total);
        if (lane() == 0 && g < live_heads) {
            max[g] = largest;
            sum[g] = total;
        }
    }
}

// ---- values ----

constexpr int kChunk = 8;  // values of a token that one thread adds up

template <KvType type>
__device__ void load_values(const std::byte* values, std::size_t chunk, float (&v)[kChunk])
{
    const auto put = [&](int at, const float4& four) {
        v[at] = four.x;
        v[at + 1] = four.y;
        v[at + 2] = four.z;
        v[at + 3] = four.w;
    };
    if constexpr (type == KvType::F32) {
        put(0, reinterpret_cast<const float4*>(values)[2 * chunk]);
        put(4, reinterpret_cast<const float4*>(values)[2 * chunk + 1]);
    } else if constexpr (type == KvType::F16) {
        const uint4 bytes = reinterpret_cast<const uint4*>(values)[chunk];
        const std::uint32_t words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
        for (int i = 0; i < kChunk; ++i)
            v[i] = half_to_float(std::uint16_t(words[i / 2] >> (16 * (i % 2))));
    } else {
        const uint2 bytes = reinterpret_cast<const uint2*>(values)[chunk];
        put(0, bytes_to_floats(bytes.x));
        put(4, bytes_to_floats(bytes.y));
    }
}

// out[g][d] = sum of weights[g][t] * v[t][d]: the threads cover as many whole tokens as they can at once, each adds up
// its chunk of every so many tokens, and the chunks are added in order.
template <KvType type, int heads>
__device__ void add_values(const AttendArguments& a, const Piece& piece, int live_heads, const float* weights,
                           float* parts, float* out)
{
    const std::byte* values = piece.block + a.layout.v_offset();
    const int chunks = a.layout.v_dim / kChunk;
    const int across = kAttendThreads / chunks;  // tokens at once
    const int chunk = int(threadIdx.x) % chunks;
    const int slot = int(threadIdx.x) / chunks;

    float sums[heads][kChunk] = {};
    if (slot < across) {
#pragma unroll(heads < 8 ? 4 : 2)
        for (int t = piece.first + slot; t < piece.last; t += across) {
            float v[kChunk];
            load_values<type>(values, std::size_t(t) * std::size_t(chunks) + std::size_t(chunk), v);
            for (int g = 0; g < heads; ++g) {
                const float weight = weights[g * a.layout.tokens + t];
                for (int i = 0; i < kChunk; ++i)
                    sums[g][i] += weight * v[i];
            }
        }
    }
#pragma unroll
    for (int g = 0; g < heads; ++g) {
        if (g >= live_heads)
            break;        // the same for all threads
        __syncthreads();  // the last head's parts have been read
        if (slot < across)
            for (int i = 0; i < kChunk; ++i)
                parts[slot * a.layout.v_dim + chunk * kChunk + i] = sums[g][i];
        __syncthreads();
        for (int d = int(threadIdx.x); d < a.layout.v_dim; d += kAttendThreads) {
            float total = 0.0f;
            for (int s = 0; s < across; ++s)
                total += parts[s * a.layout.v_dim + d];
            out[g * a.layout.v_dim + d] = total;
        }
    }
}

// ---- kernel ----

// grid: (kv_heads * ceil(group / heads), thread blocks that share the KV blocks, rows)
// shared: q (heads, k_dim), scores (heads, tokens), parts (kAttendThreads * kChunk)
template <int heads>
__device__ void attend(const AttendArguments& a)
{
    auto* q = reinterpret_cast<float*>(dynamic_shared());
    float* scores = q + heads * a.layout.k_dim;
    float* parts = scores + heads * a.layout.tokens;

    const int passes = (a.group + heads - 1) / heads;
    const int kv_head = int(blockIdx.x) / passes;
    const int first_head = kv_head * a.group + int(blockIdx.x) % passes * heads;
    const int live_heads = min(heads, (kv_head + 1) * a.group - first_head);
    const int row = int(blockIdx.z);
    const int all_heads = a.kv_heads * a.group;

    const float scale = a.q_scale[row];
    const float* q_row = a.q + std::size_t(row) * std::size_t(a.q_stride) + std::size_t(first_head * a.layout.k_dim);
    for (int i = int(threadIdx.x); i < heads * a.layout.k_dim; i += kAttendThreads)
        q[i] = i < live_heads * a.layout.k_dim ? q_row[i] * scale : 0.0f;
    __syncthreads();

    const int seen = *a.first + row + 1;
    const int oldest = a.window.oldest_seen(seen - 1);
    const int begin = max(a.begin, oldest / a.layout.tokens);
    for (int b = begin + int(blockIdx.y); b < a.end && b * a.layout.tokens < seen; b += int(gridDim.y)) {
        const std::uint64_t column = a.blocks[b];
        if (column == 0)
            continue;  // the host attends it
        const Piece piece{reinterpret_cast<const std::byte*>(column) + std::size_t(kv_head) * a.layout.bytes(),
                          max(0, oldest - b * a.layout.tokens), min(a.layout.tokens, seen - b * a.layout.tokens)};
        const std::size_t partial =
            (std::size_t(row) * std::size_t(a.max_blocks) + std::size_t(b)) * std::size_t(all_heads) +
            std::size_t(first_head);

        switch (a.layout.k_type) {
        case KvType::F32:
            score<KvType::F32, heads>(a, piece, q, scores);
            break;
        case KvType::F16:
            score<KvType::F16, heads>(a, piece, q, scores);
            break;
        case KvType::Q8_0:
            score<KvType::Q8_0, heads>(a, piece, q, scores);
            break;
        }
        __syncthreads();
        weigh<heads>(a, piece, live_heads, scores, a.max + partial, a.sum + partial);
        __syncthreads();
        float* out = a.out + partial * std::size_t(a.layout.v_dim);
        switch (a.layout.v_type) {
        case KvType::F32:
            add_values<KvType::F32, heads>(a, piece, live_heads, scores, parts, out);
            break;
        case KvType::F16:
            add_values<KvType::F16, heads>(a, piece, live_heads, scores, parts, out);
            break;
        case KvType::Q8_0:
            add_values<KvType::Q8_0, heads>(a, piece, live_heads, scores, parts, out);
            break;
        }
        __syncthreads();  // the scores have been used
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kAttendThreads, 2) attend_1(const AttendArguments a)
{
    attend<1>(a);
}
EMULATED(attend_1);

extern "C" __global__ void __launch_bounds__(kAttendThreads, 2) attend_2(const AttendArguments a)
{
    attend<2>(a);
}
EMULATED(attend_2);

extern "C" __global__ void __launch_bounds__(kAttendThreads, 2) attend_4(const AttendArguments a)
{
    attend<4>(a);
}
EMULATED(attend_4);

extern "C" __global__ void __launch_bounds__(kAttendThreads, 2) attend_8(const AttendArguments a)
{
    attend<8>(a);
}
EMULATED(attend_8);
