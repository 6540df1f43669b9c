// Attends for a few rows in floats, for keys and values that are floats and for heads of any length. How the work is
// divided: see attend_pieces.cuh. Where attend_halves.cu can be used it is faster.
#include "kernels/cuda/attend_pieces.cuh"

using namespace kernels::cuda;
using kernels::kKvGroupTokens;
using kernels::kKvGroupValues;
using kernels::KvType;

namespace {

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

// Computes scores[t][g] for 16 of the piece's tokens, whose keys lie in one run of bytes, by one warp.
template <KvType type, int heads>
__device__ void score_run(const AttendArguments& a, const Piece& piece, int run, const float* q, float* scores)
{
    constexpr int kLanesAcross = 16 / kTokens<type>;  // lanes that hold the same dimensions of 16 tokens
    // This is how many units are multiplied in a turn, while the next ones are under way. They are few, since the
    // unrolled code has to be read from memory, too.
    constexpr int kAtOnce = type == KvType::F32 ? 1 : type == KvType::F16 && heads < 8 ? 4 : 2;
    const int k_dim = a.layout.k_dim;
    const int units = k_dim * int(kernels::kv_value_bytes(type));  // of 16 bytes, in a run
    const auto* keys = reinterpret_cast<const uint4*>(piece.block) + std::size_t(run) * std::size_t(units);
    uint4 next[kAtOnce];
#pragma unroll
    for (int i = 0; i < kAtOnce; ++i)
        next[i] = lane() + i * kWarp < units ? keys[lane() + i * kWarp] : make_uint4(0, 0, 0, 0);
    float sums[heads][kTokens<type>] = {};
#pragma unroll 1
    for (int begin = lane(); begin < units; begin += kAtOnce * kWarp) {
        uint4 bytes[kAtOnce];
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            const int unit = begin + (kAtOnce + i) * kWarp;
            bytes[i] = next[i];
            next[i] = unit < units ? keys[unit] : make_uint4(0, 0, 0, 0);
        }
#pragma unroll
        for (int i = 0; i < kAtOnce; ++i) {
            if (begin + i * kWarp >= units)
                break;
            float4 k[kTokens<type>];
            unpack_keys<type>(bytes[i], k);
#pragma unroll
            for (int g = 0; g < heads; ++g) {
                const float4 qg = reinterpret_cast<const float4*>(q + g * k_dim)[(begin + i * kWarp) / kLanesAcross];
#pragma unroll
                for (int t = 0; t < kTokens<type>; ++t) {
                    sums[g][t] += qg.x * k[t].x;
                    sums[g][t] += qg.y * k[t].y;
                    sums[g][t] += qg.z * k[t].z;
                    sums[g][t] += qg.w * k[t].w;
                }
            }
        }
    }
#pragma unroll
    for (int g = 0; g < heads; ++g)
#pragma unroll
        for (int t = 0; t < kTokens<type>; ++t)
            for (int flip = kLanesAcross; flip < kWarp; flip *= 2)
                sums[g][t] += __shfl_xor_sync(kWholeWarp, sums[g][t], flip);
    if (lane() >= kLanesAcross)
        return;
    const auto* scales = reinterpret_cast<const float*>(piece.block + a.layout.k_scales_offset());
#pragma unroll
    for (int t = 0; t < kTokens<type>; ++t) {
        const int token = run * 16 + lane() * kTokens<type> + t;
        const float scale = type == KvType::Q8_0 ? scales[token] : 1.0f;
#pragma unroll
        for (int g = 0; g < heads; ++g)
            scores[(token - piece.begin) * heads + g] = sums[g][t] * scale;
    }
}

template <KvType type, int heads>
__device__ void score(const AttendArguments& a, const Piece& piece, const float* q, float* scores)
{
#pragma unroll 1
    for (int run = piece.begin / 16 + warp(); run * 16 < piece.last; run += kAttendWarps)
        if (run * 16 + 16 > piece.first)
            score_run<type, heads>(a, piece, run, q, scores);
}

// ---- weights ----

// Turns scores into weights exp(score - largest), a warp for each head. Where values have scales, the weights are
// multiplied by them. max, sum: of the first head
template <int heads>
__device__ void weigh(const AttendArguments& a, const Piece& piece, int live_heads, float* scores, float* max,
                      float* sum)
{
    const auto* scales = reinterpret_cast<const float*>(piece.block + a.layout.v_scales_offset()) + piece.begin;
#pragma unroll 1
    for (int g = warp(); g < heads; g += kAttendWarps) {
        const bool live = g < live_heads;
        weigh_head(
            a, piece, live ? max + g * a.max_pieces : nullptr, sum + g * a.max_pieces,
            [&](int t) -> float& { return scores[t * heads + g]; },
            [&](int t, float weight) {
                scores[t * heads + g] = a.layout.v_type == KvType::Q8_0 ? weight * scales[t] : weight;
            });
    }
}

// ---- values ----

constexpr int kChunk = 8;          // values of a token that one thread adds up
constexpr int kValuesAtOnce = 4;   // tokens whose values are added in a turn, while the next ones' are under way
constexpr int kHeadsTogether = 4;  // that lie in shared memory while the threads' sums are added

/// Says which values a thread adds up: one chunk of every `across`-th token. The threads cover as many whole tokens at
/// once as they can.
struct Share {
    int chunks, across;  // of a token; tokens at once
    int chunk, slot;
    __device__ explicit Share(int v_dim)
        : chunks(v_dim / kChunk)
        , across(kAttendThreads / chunks)
        , chunk(int(threadIdx.x) % chunks)
        , slot(int(threadIdx.x) / chunks)
    {
    }
};

/// The place of four values among those of their block, counted in fours, and of the next four of the token.
struct Fours {
    std::size_t at, next;
    __device__ Fours(const kernels::KvBlockLayout& l, int t, int d)
        : at(l.v_index(t, d) / kKvGroupValues)
        , next(at + (l.values_in_keys ? kKvGroupTokens : 1))
    {
    }
};

/// Returns the bytes of one token's chunk: eight values of a type other than float.
__device__ inline uint4 load_chunk(const kernels::KvBlockLayout& l, const std::byte* values, int t, int chunk)
{
    const Fours fours(l, t, chunk * kChunk);
    if (l.v_type == KvType::F16) {
        if (!l.values_in_keys)
            return reinterpret_cast<const uint4*>(values)[fours.at / 2];
        const auto* halves = reinterpret_cast<const uint2*>(values);
        const uint2 a = halves[fours.at], b = halves[fours.next];
        return make_uint4(a.x, a.y, b.x, b.y);
    }
    if (!l.values_in_keys) {
        const uint2 bytes = reinterpret_cast<const uint2*>(values)[fours.at / 2];
        return make_uint4(bytes.x, bytes.y, 0, 0);
    }
    const auto* bytes = reinterpret_cast<const std::uint32_t*>(values);
    return make_uint4(bytes[fours.at], bytes[fours.next], 0, 0);
}

/// Loads the bytes of the thread's chunks of kValuesAtOnce tokens, from the batch's first on. Values that are floats
/// are not loaded ahead.
__device__ inline void load_values(const AttendArguments& a, const Piece& piece, const Share& share, int batch,
                                   uint4 (&bytes)[kValuesAtOnce])
{
    const std::byte* values = piece.block + a.layout.v_offset();
#pragma unroll
    for (int i = 0; i < kValuesAtOnce; ++i) {
        const int t = piece.begin + share.slot + (batch * kValuesAtOnce + i) * share.across;
        const bool here = share.slot < share.across && t >= piece.first && t < piece.last;
        bytes[i] = make_uint4(0, 0, 0, 0);
        if (here && a.layout.v_type != KvType::F32)
            bytes[i] = load_chunk(a.layout, values, t, share.chunk);
    }
}

template <KvType type>
__device__ void unpack_values(const uint4& bytes, const float4* floats, const Fours& fours, float (&v)[kChunk])
{
    const auto put = [&](int at, const float4& four) {
        v[at] = four.x;
        v[at + 1] = four.y;
        v[at + 2] = four.z;
        v[at + 3] = four.w;
    };
    if constexpr (type == KvType::F32) {
        put(0, floats[fours.at]);
        put(4, floats[fours.next]);
    } else if constexpr (type == KvType::F16) {
        const std::uint32_t words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
        for (int i = 0; i < kChunk; ++i)
            v[i] = half_to_float(std::uint16_t(words[i / 2] >> (16 * (i % 2))));
    } else {
        put(0, bytes_to_floats(bytes.x));
        put(4, bytes_to_floats(bytes.y));
    }
}

// out[g][d] = sum of weights[t][g] * v[t][d]: each thread adds up its chunks, and the threads' sums are added in order.
// `bytes`: the first batch's.
template <KvType type, int heads>
__device__ void add_values(const AttendArguments& a, const Piece& piece, const Share& share, int live_heads,
                           const float* weights, uint4 (&bytes)[kValuesAtOnce], float* parts, float* out)
{
    const int v_dim = a.layout.v_dim;
    const auto* floats = reinterpret_cast<const float4*>(piece.block + a.layout.v_offset());
    float sums[heads][kChunk] = {};
#pragma unroll 1
    for (int batch = 0; piece.begin + batch * kValuesAtOnce * share.across < piece.last; ++batch) {
        uint4 next[kValuesAtOnce];
        load_values(a, piece, share, batch + 1, next);
#pragma unroll
        for (int i = 0; i < kValuesAtOnce; ++i) {
            const int t = piece.begin + share.slot + (batch * kValuesAtOnce + i) * share.across;
            if (share.slot >= share.across || t < piece.first || t >= piece.last)
                continue;
            float v[kChunk];
            unpack_values<type>(bytes[i], floats, Fours(a.layout, t, share.chunk * kChunk), v);
            const float* weight = weights + (t - piece.begin) * heads;
#pragma unroll
            for (int g = 0; g < heads; ++g)
#pragma unroll
                for (int d = 0; d < kChunk; ++d)
                    sums[g][d] += weight[g] * v[d];
        }
#pragma unroll
        for (int i = 0; i < kValuesAtOnce; ++i)
            bytes[i] = next[i];
    }

    constexpr int kTogether = heads < kHeadsTogether ? heads : kHeadsTogether;
#pragma unroll
    for (int first = 0; first < heads; first += kTogether) {
        if (first >= live_heads)
            break;  // the same for all threads
        if (first > 0)
            __syncthreads();  // the last heads' parts have been read
        if (share.slot < share.across)
#pragma unroll
            for (int g = 0; g < kTogether; ++g) {
                const float* s = sums[first + g];
                auto* to =
                    reinterpret_cast<float4*>(parts + (share.slot * kTogether + g) * v_dim + share.chunk * kChunk);
                to[0] = make_float4(s[0], s[1], s[2], s[3]);
                to[1] = make_float4(s[4], s[5], s[6], s[7]);
            }
        __syncthreads();
        const int quads = min(kTogether, live_heads - first) * v_dim / 4;
#pragma unroll 1
        for (int quad = int(threadIdx.x); quad < quads; quad += kAttendThreads) {
            float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll 4
            for (int s = 0; s < share.across; ++s) {
                const float4 part = reinterpret_cast<const float4*>(parts + s * kTogether * v_dim)[quad];
                total.x += part.x;
                total.y += part.y;
                total.z += part.z;
                total.w += part.w;
            }
            reinterpret_cast<float4*>(out + first * v_dim)[quad] = total;
        }
    }
}

// ---- kernel ----

template <int heads>
__device__ void attend_piece(const AttendArguments& a, const Piece& piece, int live_heads, const Partial& partial,
                             const float* q, float* scores, float* parts)
{
    const Share share(a.layout.v_dim);
    uint4 values[kValuesAtOnce];
    load_values(a, piece, share, 0, values);  // they are under way while the keys are multiplied
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
    weigh<heads>(a, piece, live_heads, scores, a.max + partial.of_sums, a.sum + partial.of_sums);
    __syncthreads();
    float* out = a.out + partial.of_values;
    switch (a.layout.v_type) {
    case KvType::F32:
        add_values<KvType::F32, heads>(a, piece, share, live_heads, scores, values, parts, out);
        break;
    case KvType::F16:
        add_values<KvType::F16, heads>(a, piece, share, live_heads, scores, values, parts, out);
        break;
    case KvType::Q8_0:
        add_values<KvType::Q8_0, heads>(a, piece, share, live_heads, scores, values, parts, out);
        break;
    }
    __syncthreads();  // scores and parts have been used
}

// shared: q (heads, k_dim), scores (piece_tokens, heads), parts (as many tokens as threads cover, 4 heads, v_dim)
template <int heads>
__device__ void attend(const AttendArguments& a)
{
    auto* q = reinterpret_cast<float*>(dynamic_shared());
    float* scores = q + heads * a.layout.k_dim;
    float* parts = scores + heads * a.piece_tokens;
    const auto prepare = [&](const float* from, int live_heads, float scale) {
        const auto* quads = reinterpret_cast<const float4*>(from);
#pragma unroll 1
        for (int i = int(threadIdx.x); i < heads * a.layout.k_dim / 4; i += kAttendThreads) {
            const float4 v = i < live_heads * a.layout.k_dim / 4 ? quads[i] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            reinterpret_cast<float4*>(q)[i] = make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
        }
    };
    attend_pieces<heads, false>(a, prepare, [&](const Piece& piece, int live_heads, const Partial& partial) {
        attend_piece<heads>(a, piece, live_heads, partial, q, scores, parts);
    });
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kAttendThreads, kAttendBlocks)
    attend_1(const __grid_constant__ AttendArguments a)
{
    attend<1>(a);
}
EMULATED(attend_1);

extern "C" __global__ void __launch_bounds__(kAttendThreads, kAttendBlocks)
    attend_2(const __grid_constant__ AttendArguments a)
{
    attend<2>(a);
}
EMULATED(attend_2);

extern "C" __global__ void __launch_bounds__(kAttendThreads, kAttendBlocks)
    attend_4(const __grid_constant__ AttendArguments a)
{
    attend<4>(a);
}
EMULATED(attend_4);

extern "C" __global__ void __launch_bounds__(kAttendThreads, kAttendBlocks)
    attend_8(const __grid_constant__ AttendArguments a)
{
    attend<8>(a);
}
EMULATED(attend_8);
