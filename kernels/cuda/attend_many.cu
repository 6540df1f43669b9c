// Attention for many rows (prefill) over paged KV, on tensor cores. A thread block takes 64 or 32 queries of one KV
// head (all heads of its group, row after row) and walks over the tokens they see, 64, 32 or 16 at a time: keys and
// values become halves in shared memory, scores and weights stay in registers, and the running result is rescaled
// whenever a larger score comes. The next tokens' keys are on their way while this one's values are multiplied, and the
// other way round; values that are the first part of their keys are taken from these. Heads longer than 128 values are
// divided among two or four warps, which hold their part of the queries' and of the result's values each and add their
// parts of the scores in shared memory. Where the KV blocks come in several runs, the result is carried from one launch
// to the next.
#include "kernels/cuda/attend.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/fetch_kv.cuh"

using namespace kernels::cuda;
using kernels::kKvGroupTokens;
using kernels::KvType;

namespace {

constexpr float kLog2OfE = 1.44269504f;

template <int dim>
constexpr int kParts = dim <= 128   ? 1
                       : dim <= 256 ? 2
                                    : 4;  // warps that share 16 queries
template <int dim>
constexpr int kPart = dim / kParts<dim>;  // values of a head that a warp holds
template <int dim>
constexpr int kWarpRows = attend_many_queries(dim) / 16;  // warps of a part; those of the first part come first

template <int dim>
__device__ inline int part()
{
    return warp() / kWarpRows<dim>;
}

// Each warp's part of its scores, in the place of keys that have been used.
template <int dim>
struct ScoreParts {
    float scores[kThreads<dim> / kWarp][kTile<dim> / 2][kWarp];
};

template <int dim>
__device__ void put_part(ScoreParts<dim>& all_parts, const float (&scores)[kTile<dim> / 8][4])
{
#pragma unroll
    for (int tile = 0; tile < kTile<dim> / 8; ++tile)
        for (int i = 0; i < 4; ++i)
            all_parts.scores[warp()][4 * tile + i][lane()] = scores[tile][i];
}

// Sets scores to the sums over the parts, in the parts' order: all warps that share the queries get the same.
template <int dim>
__device__ void add_parts(const ScoreParts<dim>& all_parts, float (&scores)[kTile<dim> / 8][4])
{
#pragma unroll
    for (int tile = 0; tile < kTile<dim> / 8; ++tile)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const auto of_part = [&](int p) {
                return all_parts.scores[warp() % kWarpRows<dim> + p * kWarpRows<dim>][4 * tile + i][lane()];
            };
            scores[tile][i] = of_part(0);
#pragma unroll
            for (int p = 1; p < kParts<dim>; ++p)
                scores[tile][i] += of_part(p);
        }
}

// ---- queries ----

/// One of the two queries whose scores a lane holds. Scores are logarithms to the base 2.
struct Query {
    bool live;
    int row, head;
    int position;  // the last token it sees; -1 where there is no query
    int oldest;
    float scale;
    float largest = -INFINITY;
    float sum = 0.0f;  // this lane's part
};

__device__ inline Query query(const AttendManyArguments& a, int kv_head, int index)
{
    Query q;
    q.row = index / a.group;
    q.head = kv_head * a.group + index % a.group;
    q.live = q.row < a.rows;
    q.position = q.live ? *a.first + q.row : -1;
    q.oldest = q.live ? a.window.oldest_seen(q.position) : 0;
    q.scale = q.live ? a.q_scale[q.row] : 0.0f;
    return q;
}

// Returns four values of a query, as halves.
__device__ inline uint2 load_query(const AttendManyArguments& a, const Query& q, int d)
{
    if (!q.live || d >= a.layout.k_dim)
        return make_uint2(0, 0);
    const float4 from = *reinterpret_cast<const float4*>(a.q + std::size_t(q.row) * std::size_t(a.q_stride) +
                                                         std::size_t(q.head * a.layout.k_dim + d));
    return make_uint2(two_halves(from.x, from.y), two_halves(from.z, from.w));
}

// Returns the largest value of the four lanes that share a row.
__device__ inline float row_max(float x)
{
    x = fmaxf(x, __shfl_xor_sync(kWholeWarp, x, 1));
    return fmaxf(x, __shfl_xor_sync(kWholeWarp, x, 2));
}

__device__ inline float row_sum(float x)
{
    x += __shfl_xor_sync(kWholeWarp, x, 1);
    return x + __shfl_xor_sync(kWholeWarp, x, 2);
}

// Reads (in) or writes what a launch leaves to the next one for each query and head: the largest score, the sum, and
// the values.
template <int dim>
__device__ void carry(const AttendManyArguments& a, Query (&queries)[2], float (&out)[kPart<dim> / 8][4], bool in)
{
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        Query& of = queries[r];
        const float sum = in ? 0.0f : row_sum(of.sum);  // of all lanes, before any of them leaves
        if (!of.live)
            continue;
        const int heads = a.kv_heads * a.group;
        float* state = a.state + (std::size_t(of.row) * std::size_t(heads) + std::size_t(of.head)) *
                                     std::size_t(2 + a.layout.v_dim);
        const bool first_lane = lane() % 4 == 0;
        if (in) {
            of.largest = state[0];
            of.sum = first_lane ? state[1] : 0.0f;
        } else if (first_lane && part<dim>() == 0) {
            state[0] = of.largest;
            state[1] = sum;
        }
#pragma unroll
        for (int tile = 0; tile < kPart<dim> / 8; ++tile)
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                const int d = part<dim>() * kPart<dim> + 8 * tile + 2 * (lane() % 4) + i;
                if (d >= a.layout.v_dim)
                    continue;
                if (in)
                    out[tile][2 * r + i] = state[2 + d];
                else
                    state[2 + d] = out[tile][2 * r + i];
            }
    }
}

// ---- scores ----

// Multiplies 16 queries with a tile of keys. A lane takes four values of a key that follow each other: any order of the
// dimensions will do for tensor cores, as long as queries have the same.
template <int dim>
__device__ inline void multiply_keys(const Shared<dim>& shared, const std::uint32_t (&q)[kPart<dim> / 16][4],
                                     float (&scores)[kTile<dim> / 8][4])
{
    const int first_quad = part<dim>() * (kPart<dim> / 4);
    const std::uint16_t* halves[2];  // of a run of tokens: where the lane's keys begin
    for (int half = 0; half < 2; ++half)
        halves[half] = &shared.k[key_at<dim>(0, lane() % 4, 8 * half + lane() / 4) + first_quad * kKvGroupTokens * 4];
#pragma unroll
    for (int tile = 0; tile < kTile<dim> / 8; ++tile) {
#pragma unroll
        for (float& score : scores[tile])
            score = 0.0f;
#pragma unroll
        for (int step = 0; step < kPart<dim> / 16; ++step) {
            const int further = (tile / 2 * (dim / 4) + 4 * step) * kKvGroupTokens * 4;
            const uint2 k = *reinterpret_cast<const uint2*>(halves[tile % 2] + further);
            multiply_halves(scores[tile], q[step], {k.x, k.y});
        }
    }
}

// Scales the scores, and sets those of tokens that a query does not see to -infinity. `plain`: all queries see all
// tokens, and nothing is capped
template <int dim, bool plain>
__device__ inline void finish_scores(const AttendManyArguments& a, const Shared<dim>& shared, int slot, int first,
                                     int end, const Query (&queries)[2], float (&scores)[kTile<dim> / 8][4])
{
    const bool scaled = a.layout.k_type == KvType::Q8_0;
    const float inverse_cap = plain ? 0.0f : 1.0f / a.softcap;
#pragma unroll
    for (int tile = 0; tile < kTile<dim> / 8; ++tile) {
        const int token = 8 * tile + 2 * (lane() % 4);
        float2 k_scale = make_float2(1.0f, 1.0f);
        if (scaled)
            k_scale = *reinterpret_cast<const float2*>(&shared.k_scale[slot][token]);
        const bool present = plain || shared.present[slot][tile / 2];
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const Query& of = queries[i / 2];
            float s = scores[tile][i] * of.scale;
            if (scaled)
                s *= i % 2 ? k_scale.y : k_scale.x;
            if (!plain && a.softcap > 0.0f)
                s = a.softcap * tanhf(s * inverse_cap);
            s *= kLog2OfE;
            const int at = first + token + i % 2;
            const bool seen = plain || (present && at < end && at <= of.position && at >= of.oldest);
            scores[tile][i] = seen ? s : -INFINITY;
        }
    }
}

// Turns scores into weights, and rescales the result so far to the same base.
template <int dim>
__device__ inline void weigh(Query (&queries)[2], float (&scores)[kTile<dim> / 8][4], float (&out)[kPart<dim> / 8][4])
{
    float keep[2];
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        float largest = -INFINITY;
#pragma unroll
        for (int tile = 0; tile < kTile<dim> / 8; ++tile)
            largest = fmaxf(largest, fmaxf(scores[tile][2 * r], scores[tile][2 * r + 1]));
        const float joint = fmaxf(queries[r].largest, row_max(largest));
        const float base = joint == -INFINITY ? 0.0f : joint;  // nothing was seen yet
        keep[r] = power_of_2(queries[r].largest - base);
        queries[r].largest = joint;
        queries[r].sum *= keep[r];
#pragma unroll
        for (int tile = 0; tile < kTile<dim> / 8; ++tile)
#pragma unroll
            for (int i = 2 * r; i < 2 * r + 2; ++i) {
                scores[tile][i] = power_of_2(scores[tile][i] - base);
                queries[r].sum += scores[tile][i];
            }
    }
    if (__ballot_sync(kWholeWarp, keep[0] != 1.0f || keep[1] != 1.0f) == 0)
        return;  // the whole warp: no larger score has come
#pragma unroll
    for (int tile = 0; tile < kPart<dim> / 8; ++tile)
#pragma unroll
        for (int i = 0; i < 4; ++i)
            out[tile][i] *= keep[i / 2];
}

template <int dim>
__device__ inline void add_values(const Shared<dim>& shared, const float (&scores)[kTile<dim> / 8][4],
                                  float (&out)[kPart<dim> / 8][4])
{
    // Where the first four pairs of eight values begin for the lane's token; the others are 64 values further on.
    const std::uint16_t* pairs[4];
    for (int pair = 0; pair < 4; ++pair)
        pairs[pair] = &shared.v[value_at<dim>(lane() % 16, part<dim>() * (kPart<dim> / 8) + 2 * pair + lane() / 16)];
#pragma unroll
    for (int step = 0; step < kRuns<dim>; ++step) {
        const std::uint32_t weights[4] = {two_halves(scores[2 * step][0], scores[2 * step][1]),
                                          two_halves(scores[2 * step][2], scores[2 * step][3]),
                                          two_halves(scores[2 * step + 1][0], scores[2 * step + 1][1]),
                                          two_halves(scores[2 * step + 1][2], scores[2 * step + 1][3])};
#pragma unroll
        for (int tile = 0; tile < kPart<dim> / 8; tile += 2) {
            std::uint32_t v[2][2];
            load_columns(v, pairs[tile / 2 % 4] + 16 * step * dim + tile / 8 * 64);
            multiply_halves(out[tile], weights, v[0]);
            multiply_halves(out[tile + 1], weights, v[1]);
        }
    }
}

// ---- kernel ----

template <int dim>
__device__ void finish(const AttendManyArguments& a, const Query (&queries)[2], const float (&out)[kPart<dim> / 8][4])
{
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        const Query& of = queries[r];
        const float sum = row_sum(of.sum);
        if (!of.live)
            continue;
        // A sink is one more logit in the softmax, without a value.
        const float sink = a.sinks ? a.sinks[of.head] * kLog2OfE : -INFINITY;
        const float base = fmaxf(of.largest, sink);
        const float keep = power_of_2(of.largest - base);
        const float factor = keep / (sum * keep + power_of_2(sink - base));
        float* to = a.out + std::size_t(of.row) * std::size_t(a.out_stride) + std::size_t(of.head * a.layout.v_dim);
#pragma unroll
        for (int tile = 0; tile < kPart<dim> / 8; ++tile)
            if (const int d = part<dim>() * kPart<dim> + 8 * tile + 2 * (lane() % 4); d < a.layout.v_dim)
                *reinterpret_cast<float2*>(to + d) =
                    make_float2(out[tile][2 * r] * factor, out[tile][2 * r + 1] * factor);
    }
}

/// Says which tokens all of a warp's queries see.
struct Whole {
    int from, to;  // tokens; to: the first that one of them does not see
};
__device__ inline Whole whole_of(const AttendManyArguments& a, int first_query)
{
    const int last_row = min((first_query + 15) / a.group, a.rows - 1);
    return {a.window.oldest_seen(*a.first + last_row), *a.first + first_query / a.group + 1};
}

// grid: (ceil(rows * group / attend_many_queries(dim)), kv_heads)
template <int dim>
__device__ void attend_many(const AttendManyArguments& a)
{
    constexpr int tile_tokens = kTile<dim>;
    __shared__ Shared<dim> shared;
    const int kv_head = int(blockIdx.y);
    // The queries that see most tokens begin first.
    const int first_query = int(gridDim.x - 1 - blockIdx.x) * attend_many_queries(dim);
    const int own_query = first_query + warp() % kWarpRows<dim> * 16;
    Query queries[2] = {query(a, kv_head, own_query + lane() / 4), query(a, kv_head, own_query + lane() / 4 + 8)};

    const int seen = *a.first + min(a.rows, (first_query + attend_many_queries(dim) - 1) / a.group + 1);
    const int end = a.end > seen / a.layout.tokens ? seen : a.end * a.layout.tokens;
    const int oldest = a.window.oldest_seen(*a.first + first_query / a.group);
    int first = max(a.begin * a.layout.tokens, oldest / tile_tokens * tile_tokens);
    const Whole whole = whole_of(a, own_query);

    Fetching<dim> fetching(a, kv_head, end);
    fetching.clear(shared);
    if (first < end) {
        fetching.fetch_keys(first, 0, shared);
        commit_copies();
        fetching.fetch_values(shared);
        commit_copies();
    }

    std::uint32_t q[kPart<dim> / 16][4];
#pragma unroll
    for (int step = 0; step < kPart<dim> / 16; ++step)
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const uint2 four = load_query(a, queries[r], part<dim>() * kPart<dim> + 16 * step + 4 * (lane() % 4));
            q[step][r] = four.x;
            q[step][r + 2] = four.y;
        }
    float out[kPart<dim> / 8][4] = {};
    if (!a.begins)
        carry<dim>(a, queries, out, true);

    for (int slot = 0; first < end; first += tile_tokens, slot ^= 1) {
        wait_for_copies<1>();
        fetching.finish_keys(shared);
        fetching.take_values_of_keys(shared, slot);
        __syncthreads();  // keys are here
        float scores[tile_tokens / 8][4];
        multiply_keys<dim>(shared, q, scores);
        bool all_present = true;
#pragma unroll
        for (int run = 0; run < kRuns<dim>; ++run)
            all_present &= shared.present[slot][run] != 0;
        __syncthreads();  // keys have been used
        if constexpr (kParts<dim> != 1) {
            static_assert(sizeof(ScoreParts<dim>) <= sizeof shared.k);
            auto& all_parts = *reinterpret_cast<ScoreParts<dim>*>(shared.k);
            put_part<dim>(all_parts, scores);
            __syncthreads();  // parts are here
            add_parts<dim>(all_parts, scores);
            __syncthreads();  // and have been used
        }
        const bool more = first + tile_tokens < end;
        if (more)
            fetching.fetch_keys(first + tile_tokens, slot ^ 1, shared);
        commit_copies();

        if (all_present && a.softcap == 0.0f && first >= whole.from && first + tile_tokens <= min(whole.to, end))
            finish_scores<dim, true>(a, shared, slot, first, end, queries, scores);
        else
            finish_scores<dim, false>(a, shared, slot, first, end, queries, scores);
        weigh<dim>(queries, scores, out);

        wait_for_copies<1>();
        fetching.finish_values(shared);
        __syncthreads();  // values are here
        add_values<dim>(shared, scores, out);
        __syncthreads();  // values have been used
        if (more)
            fetching.fetch_values(shared);
        commit_copies();
    }

    if (a.ends)
        finish<dim>(a, queries, out);
    else
        carry<dim>(a, queries, out, false);
}

}  // namespace

// min_blocks: thread blocks that a multiprocessor has registers for
#define ATTEND_MANY(dim, min_blocks)                                                                                   \
    extern "C" __global__ void __launch_bounds__(attend_many_threads(dim), min_blocks)                                 \
        attend_many_##dim(const AttendManyArguments a)                                                                 \
    {                                                                                                                  \
        attend_many<dim>(a);                                                                                           \
    }                                                                                                                  \
    EMULATED(attend_many_##dim)

ATTEND_MANY(64, 3);
ATTEND_MANY(128, 2);
ATTEND_MANY(256, 1);
ATTEND_MANY(512, 1);
ATTEND_MANY(576, 1);  // keys of latent attention
