// Attention for many rows (prefill) over paged KV, on tensor cores. A thread block takes 64 queries of one KV head (all
// heads of its group, row after row) and walks over the tokens they see, 64, 32 or 16 at a time: keys and values become
// halves in shared memory, scores and weights stay in registers, and the running result is rescaled whenever a larger
// score comes. Heads of up to 576 values are divided between two warps, which hold half of the queries' and of the
// result's values each and add their parts of the scores in shared memory. Where the KV blocks come in several runs,
// the result is carried from one launch to the next.
#include "kernels/cuda/attend.h"
#include "kernels/cuda/device.h"

using namespace kernels::cuda;
using kernels::KvType;

namespace {

template <int dim>
constexpr int kTile = dim <= 128   ? 64
                      : dim <= 256 ? 32
                                   : 16;  // tokens at a time: what fits shared memory

template <int dim>
constexpr int kParts = dim <= 256 ? 1 : 2;  // warps that share 16 queries
template <int dim>
constexpr int kPart = dim / kParts<dim>;  // values of a head that a warp holds
template <int dim>
constexpr int kThreads = kParts<dim>* kAttendManyThreads;

// Of the thread block's warps those of the first part come first.
template <int dim>
__device__ inline int part()
{
    return warp() / (kAttendManyThreads / kWarp);
}

template <int dim>
struct Shared {
    // Eight halves more than a row needs: eight rows' words lie in different banks.
    __align__(16) std::uint16_t k[kTile<dim>][dim + 8];
    __align__(16) std::uint16_t v[kTile<dim>][dim + 8];
    float k_scale[kTile<dim>];  // -1 for tokens that nobody sees
};

// Each warp's part of its scores.
template <int dim>
struct ScoreParts {
    float scores[kThreads<dim> / kWarp][kTile<dim> / 2][kWarp];
};

// scores = the sum over the parts of each lane's queries, in their order: the same in all warps that share them.
template <int dim>
__device__ void add_parts(ScoreParts<dim>& all_parts, float (&scores)[kTile<dim> / 8][4])
{
    constexpr int apart = kAttendManyThreads / kWarp;  // warps from one part to the next
    for (int tile = 0; tile < kTile<dim> / 8; ++tile)
        for (int i = 0; i < 4; ++i)
            all_parts.scores[warp()][4 * tile + i][lane()] = scores[tile][i];
    __syncthreads();
    for (int tile = 0; tile < kTile<dim> / 8; ++tile)
        for (int i = 0; i < 4; ++i)
            scores[tile][i] = all_parts.scores[warp() % apart][4 * tile + i][lane()] +
                              all_parts.scores[warp() % apart + apart][4 * tile + i][lane()];
}

// Four values of a token as halves. Those of Q8_0 keys are whole numbers, and their scale comes later.
__device__ inline uint2 four_halves(KvType type, const std::byte* values, std::size_t index, float scale)
{
    if (type == KvType::F16)
        return *reinterpret_cast<const uint2*>(reinterpret_cast<const std::uint16_t*>(values) + index);
    const float4 v = bytes_to_floats(*reinterpret_cast<const std::uint32_t*>(values + index));
    return make_uint2(two_halves(v.x * scale, v.y * scale), two_halves(v.z * scale, v.w * scale));
}

// Tokens first .. first + kTile<dim> - 1; from `end` on, where blocks are absent and beyond the dimensions there is
// zero.
template <int dim>
__device__ void load_tile(const AttendManyArguments& a, int kv_head, int first, int end, Shared<dim>& shared)
{
    const kernels::KvBlockLayout& l = a.layout;
    const bool scaled_k = l.k_type == KvType::Q8_0;
    const bool scaled_v = l.v_type == KvType::Q8_0;
    for (int i = int(threadIdx.x); i < kTile<dim> * dim / 4; i += kThreads<dim>) {
        // Neighbouring threads read neighbouring bytes: of keys, the tokens of a run of 16; of values, a token's own.
        const int k_token = i / 16 / (dim / 4) * 16 + i % 16;
        const int k_quad = i / 16 % (dim / 4);
        const int v_token = i / (dim / 4);
        const int v_quad = i % (dim / 4);
        const auto block = [&](int token) {
            const std::uint64_t column = first + token < end ? a.blocks[(first + token) / l.tokens] : 0;
            return column ? reinterpret_cast<const std::byte*>(column) + std::size_t(kv_head) * l.bytes() : nullptr;
        };
        const std::byte* k_block = block(k_token);
        const std::byte* v_block = block(v_token);
        const int k_at = (first + k_token) % l.tokens;
        const int v_at = (first + v_token) % l.tokens;

        uint2 k = make_uint2(0, 0);
        uint2 v = make_uint2(0, 0);
        if (k_block && 4 * k_quad < l.k_dim)
            k = four_halves(l.k_type, k_block, l.k_index(k_at, 4 * k_quad), 1.0f);
        if (v_block && 4 * v_quad < l.v_dim)
            v = four_halves(l.v_type, v_block + l.v_offset(), std::size_t(v_at * l.v_dim + 4 * v_quad),
                            scaled_v ? reinterpret_cast<const float*>(v_block + l.v_scales_offset())[v_at] : 1.0f);
        *reinterpret_cast<uint2*>(&shared.k[k_token][4 * k_quad]) = k;
        *reinterpret_cast<uint2*>(&shared.v[v_token][4 * v_quad]) = v;
        if (k_quad == 0)
            shared.k_scale[k_token] = !k_block   ? -1.0f
                                      : scaled_k ? reinterpret_cast<const float*>(k_block + l.k_scales_offset())[k_at]
                                                 : 1.0f;
    }
}

/// One of the two queries whose scores a lane holds.
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

// Two values of a query, as halves.
__device__ inline std::uint32_t load_query(const AttendManyArguments& a, const Query& q, int d)
{
    if (!q.live || d >= a.layout.k_dim)
        return 0;
    const float* from = a.q + std::size_t(q.row) * std::size_t(a.q_stride) + std::size_t(q.head * a.layout.k_dim + d);
    return two_halves(from[0], from[1]);
}

// The largest of the four lanes that share a row.
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

// What a launch leaves to the next of each query of each head: the largest score, the sum, and the values.
template <int dim>
__device__ void carry(const AttendManyArguments& a, Query (&queries)[2], float (&out)[kPart<dim> / 8][4], bool in)
{
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
        for (int tile = 0; tile < kPart<dim> / 8; ++tile)
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

// grid: (ceil(rows * group / kAttendManyQueries), kv_heads)
template <int dim>
__device__ void attend_many(const AttendManyArguments& a)
{
    constexpr int tile_tokens = kTile<dim>;
    constexpr int own = kPart<dim>;
    __shared__ Shared<dim> shared;
    const int kv_head = int(blockIdx.y);
    const int first_query = int(blockIdx.x) * kAttendManyQueries;
    const int first_own = part<dim>() * own;  // of the head's values
    const int row_of_warps = warp() % (kAttendManyThreads / kWarp);
    const int group = lane() / 4;
    const int place = lane() % 4;
    Query queries[2] = {query(a, kv_head, first_query + row_of_warps * 16 + group),
                        query(a, kv_head, first_query + row_of_warps * 16 + group + 8)};

    std::uint32_t q[own / 16][4];
    for (int step = 0; step < own / 16; ++step)
        for (int i = 0; i < 4; ++i)
            q[step][i] = load_query(a, queries[i % 2], first_own + 16 * step + 8 * (i / 2) + 2 * place);

    const int seen = *a.first + min(a.rows, (first_query + kAttendManyQueries - 1) / a.group + 1);
    const int end = a.end > seen / a.layout.tokens ? seen : a.end * a.layout.tokens;
    const int first_position = *a.first + first_query / a.group;
    const int oldest = a.window.oldest_seen(first_position);
    float out[own / 8][4] = {};
    if (!a.begins)
        carry<dim>(a, queries, out, true);
    for (int first = max(a.begin * a.layout.tokens, oldest / tile_tokens * tile_tokens); first < end;
         first += tile_tokens) {
        __syncthreads();  // the last tile has been used
        load_tile<dim>(a, kv_head, first, end, shared);
        __syncthreads();

        float scores[tile_tokens / 8][4] = {};
#pragma unroll
        for (int tile = 0; tile < tile_tokens / 8; ++tile)
#pragma unroll
            for (int step = 0; step < own / 16; ++step) {
                const std::uint16_t* k = &shared.k[8 * tile + group][first_own + 16 * step + 2 * place];
                const std::uint32_t b[2] = {*reinterpret_cast<const std::uint32_t*>(k),
                                            *reinterpret_cast<const std::uint32_t*>(k + 8)};
                multiply_halves(scores[tile], q[step], b);
            }

        if constexpr (kParts < dim >> 1) {
            __shared__ ScoreParts<dim> all_parts;
            add_parts<dim>(all_parts, scores);
        }

        float largest[2] = {-INFINITY, -INFINITY};
        for (int tile = 0; tile < tile_tokens / 8; ++tile)
            for (int i = 0; i < 4; ++i) {
                const Query& of = queries[i / 2];
                const int token = 8 * tile + 2 * place + i % 2;
                const float k_scale = shared.k_scale[token];
                float s = scores[tile][i] * of.scale * k_scale;
                if (a.softcap > 0.0f)
                    s = a.softcap * tanhf(s / a.softcap);
                const bool seen = first + token <= of.position && first + token >= of.oldest && k_scale >= 0.0f;
                scores[tile][i] = seen ? s : -INFINITY;
                largest[i / 2] = fmaxf(largest[i / 2], scores[tile][i]);
            }
        for (int r = 0; r < 2; ++r) {
            const float joint = fmaxf(queries[r].largest, row_max(largest[r]));
            const float base = joint == -INFINITY ? 0.0f : joint;  // nothing was seen yet
            const float keep = expf(queries[r].largest - base);
            queries[r].largest = joint;
            queries[r].sum *= keep;
            for (int tile = 0; tile < own / 8; ++tile)
                for (int i = 2 * r; i < 2 * r + 2; ++i)
                    out[tile][i] *= keep;
            for (int tile = 0; tile < tile_tokens / 8; ++tile)
                for (int i = 2 * r; i < 2 * r + 2; ++i) {
                    scores[tile][i] = expf(scores[tile][i] - base);
                    queries[r].sum += scores[tile][i];
                }
        }

#pragma unroll
        for (int step = 0; step < tile_tokens / 16; ++step) {
            const std::uint32_t weights[4] = {two_halves(scores[2 * step][0], scores[2 * step][1]),
                                              two_halves(scores[2 * step][2], scores[2 * step][3]),
                                              two_halves(scores[2 * step + 1][0], scores[2 * step + 1][1]),
                                              two_halves(scores[2 * step + 1][2], scores[2 * step + 1][3])};
#pragma unroll
            for (int tile = 0; tile < own / 8; ++tile) {
                std::uint32_t v[2];
                load_columns(v, &shared.v[16 * step + lane() % 16][first_own + 8 * tile]);
                multiply_halves(out[tile], weights, v);
            }
        }
    }

    if (!a.ends) {
        carry<dim>(a, queries, out, false);
        return;
    }
    for (int r = 0; r < 2; ++r) {
        const Query& of = queries[r];
        const float sum = row_sum(of.sum);
        if (!of.live)
            continue;
        // A sink is one more logit in the softmax, without a value.
        const float sink = a.sinks ? a.sinks[of.head] : -INFINITY;
        const float base = fmaxf(of.largest, sink);
        const float keep = expf(of.largest - base);
        const float factor = keep / (sum * keep + expf(sink - base));
        float* to = a.out + std::size_t(of.row) * std::size_t(a.out_stride) + std::size_t(of.head * a.layout.v_dim);
        for (int tile = 0; tile < own / 8; ++tile)
            for (int i = 0; i < 2; ++i)
                if (const int d = first_own + 8 * tile + 2 * place + i; d < a.layout.v_dim)
                    to[d] = out[tile][2 * r + i] * factor;
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kAttendManyThreads) attend_many_64(const AttendManyArguments a)
{
    attend_many<64>(a);
}
EMULATED(attend_many_64);

extern "C" __global__ void __launch_bounds__(kAttendManyThreads) attend_many_128(const AttendManyArguments a)
{
    attend_many<128>(a);
}
EMULATED(attend_many_128);

extern "C" __global__ void __launch_bounds__(kAttendManyThreads) attend_many_256(const AttendManyArguments a)
{
    attend_many<256>(a);
}
EMULATED(attend_many_256);

extern "C" __global__ void __launch_bounds__(2 * kAttendManyThreads) attend_many_512(const AttendManyArguments a)
{
    attend_many<512>(a);
}
EMULATED(attend_many_512);

// Keys of latent attention.
extern "C" __global__ void __launch_bounds__(2 * kAttendManyThreads) attend_many_576(const AttendManyArguments a)
{
    attend_many<576>(a);
}
EMULATED(attend_many_576);
