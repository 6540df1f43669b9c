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

using namespace kernels::cuda;
using kernels::kKvGroupTokens;
using kernels::kv_value_bytes;
using kernels::KvType;

namespace {

constexpr float kLog2OfE = 1.44269504f;

template <int dim>
constexpr int kTile = dim <= 128   ? 64
                      : dim <= 256 ? 32
                                   : 16;  // tokens at a time: what fits shared memory
template <int dim>
constexpr int kRuns = kTile<dim> / kKvGroupTokens;  // runs of tokens that lie together in a KV block

template <int dim>
constexpr int kParts = dim <= 128   ? 1
                       : dim <= 256 ? 2
                                    : 4;  // warps that share 16 queries
template <int dim>
constexpr int kPart = dim / kParts<dim>;  // values of a head that a warp holds
template <int dim>
constexpr int kWarpRows = attend_many_queries(dim) / 16;  // warps of a part; those of the first part come first
template <int dim>
constexpr int kThreads = attend_many_threads(dim);

template <int dim>
__device__ inline int part()
{
    return warp() / kWarpRows<dim>;
}

template <int dim>
struct Shared {
    __align__(16) std::uint16_t k[kTile<dim> * dim];
    __align__(16) std::uint16_t v[kTile<dim> * dim];
    float k_scale[2][kTile<dim>];  // of this tile and the next
    int present[2][kRuns<dim>];    // whether the run is on the device
    float v_scale[kThreads<dim>];  // of the token whose values a thread fetches
};

// Keys lie as in a KV block, so that they come by plain copies: of each run four values of 16 tokens side by side.
// Tokens change places, so that the words of four lanes with the same tokens are in different banks.
template <int dim>
__device__ inline int key_at(int run, int quad, int token)
{
    return ((run * (dim / 4) + quad) * kKvGroupTokens + (token ^ (4 * (quad % 4)))) * 4;
}

// Values lie token by token, eight of them together, which change places so that those of eight tokens are in different
// banks.
template <int dim>
__device__ inline int value_at(int token, int eight)
{
    return token * dim + 8 * (eight ^ (token % 8));
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

// ---- keys and values on their way to shared memory ----

__device__ inline std::uint32_t scaled_halves(std::uint32_t two, float scale)
{
    return two_halves(half_to_float(std::uint16_t(two)) * scale, half_to_float(std::uint16_t(two >> 16)) * scale);
}

/// Says where the run of 16 tokens lies that a warp fetches, alone or with others.
struct Run {
    const std::byte* block;  // of the KV head; null: it is not on the device
    int at;                  // of the block's tokens
    int tokens;              // from `at` on that queries of the thread block may see
};

template <int dim>
class Fetching
{
public:
    __device__ Fetching(const AttendManyArguments& a, int kv_head, int end)
        : a_(a)
        , l_(a.layout)
        , head_(std::size_t(kv_head) * a.layout.bytes())
        , end_(end)
    {
    }

    // Puts zeros beyond the keys' dimensions, also for runs that are not on the device: queries have zeros there too.
    __device__ void clear(Shared<dim>& shared) const
    {
        if (l_.k_dim == dim)
            return;  // the whole block
        for (int i = int(threadIdx.x); i < kTile<dim> * dim / 8; i += kThreads<dim>)
            reinterpret_cast<uint4*>(shared.k)[i] = make_uint4(0, 0, 0, 0);
        __syncthreads();
    }

    // Fetches the keys of tokens first .. first + kTile<dim> - 1. What is fetched for tokens that no query sees does
    // not matter. Bytes are put where they do not overlap with the halves that a thread makes of what it has fetched.
    __device__ void fetch_keys(int first, int slot, Shared<dim>& shared)
    {
        find_run(first + kKvGroupTokens * run());
        if (index() == 0)
            shared.present[slot][run()] = run_.block != nullptr;
        if (!run_.block)
            return;  // the whole warp
        const std::byte* from = run_.block + kv_value_bytes(l_.k_type) * std::size_t(run_.at * l_.k_dim);
        if (l_.k_type == KvType::F16) {
#pragma unroll 4
            for (int quad = first_quad(); quad < dim / 4; quad += kQuadsApart) {
                // Parts of scores have been where the zeros beyond the keys were.
                const bool any = quad < l_.k_dim / 4;
                copy_async<16>(key(shared, quad), any ? from + 128 * quad + 8 * key_token() : nullptr, any);
            }
            return;
        }
#pragma unroll 4
        for (int quad = first_quad(); quad < l_.k_dim / 4; quad += kQuadsApart)
            copy_async<8>(key_bytes(shared, quad), from + 64 * quad + 4 * key_token(), true);
        if (index() < kKvGroupTokens)
            copy_async<4>(&shared.k_scale[slot][kKvGroupTokens * run() + index()],
                          run_.block + l_.k_scales_offset() + sizeof(float) * std::size_t(run_.at + index()), true);
    }

    // Turns the bytes that have arrived into halves. All threads must call it, and a barrier must follow.
    __device__ void finish_keys(Shared<dim>& shared) const
    {
        if (l_.k_type == KvType::F16)
            return;
        uint2 bytes[kUnits];
#pragma unroll
        for (int i = 0; i < kUnits; ++i)
            if (const int quad = first_quad() + i * kQuadsApart; quad < l_.k_dim / 4)
                bytes[i] = *reinterpret_cast<const uint2*>(key_bytes(shared, quad));
        __syncthreads();  // nobody's bytes are in the way
#pragma unroll
        for (int i = 0; i < kUnits; ++i) {
            const int quad = first_quad() + i * kQuadsApart;
            uint2 a = make_uint2(0, 0);
            uint2 b = make_uint2(0, 0);
            if (quad < l_.k_dim / 4) {
                a = bytes_to_halves(bytes[i].x);
                b = bytes_to_halves(bytes[i].y);
            }
            if (quad < dim / 4)
                *reinterpret_cast<uint4*>(key(shared, quad)) = make_uint4(a.x, a.y, b.x, b.y);
        }
    }

    // Fetches the values of the tokens whose keys were fetched last; zeros for those that no query sees. Where values
    // are the first part of their keys, take_values_of_keys() does it.
    __device__ void fetch_values(Shared<dim>& shared) const
    {
        if (l_.values_in_keys)
            return;
        const bool there = value_token() < run_.tokens;
        const int first = (run_.at + value_token()) * l_.v_dim;
        const std::byte* from = nullptr;
        if (there)
            from = run_.block + l_.v_offset() + kv_value_bytes(l_.v_type) * std::size_t(first);
        if (l_.v_type == KvType::F16) {
#pragma unroll 4
            for (int eight = first_eight(); eight < l_.v_dim / 8; eight += kOfToken)
                copy_async<16>(value(shared, eight), there ? from + 16 * eight : nullptr, there);
            return;
        }
#pragma unroll 4
        for (int eight = first_eight(); eight < l_.v_dim / 8; eight += kOfToken)
            copy_async<8>(value_bytes(shared, eight), there ? from + 8 * eight : nullptr, there);
        const std::size_t scale = l_.v_scales_offset() + sizeof(float) * std::size_t(run_.at + value_token());
        copy_async<4>(&shared.v_scale[threadIdx.x], there ? run_.block + scale : nullptr, there);
    }

    // Copies the values that are a part of the keys. A thread takes those that it fetched, so it waits for no other.
    __device__ void take_values_of_keys(Shared<dim>& shared, int slot) const
    {
        if (!l_.values_in_keys)
            return;
        const int first = kKvGroupTokens * run() + key_token();
#pragma unroll 4
        for (int quad = first_quad(); quad < l_.v_dim / 4; quad += kQuadsApart) {
            const uint4 two = *reinterpret_cast<const uint4*>(key(shared, quad));
#pragma unroll
            for (int i = 0; i < 2; ++i) {
                uint2 four = i == 0 ? make_uint2(two.x, two.y) : make_uint2(two.z, two.w);
                if (key_token() + i >= run_.tokens)
                    four = make_uint2(0, 0);
                else if (l_.k_type == KvType::Q8_0)
                    four = make_uint2(scaled_halves(four.x, shared.k_scale[slot][first + i]),
                                      scaled_halves(four.y, shared.k_scale[slot][first + i]));
                *reinterpret_cast<uint2*>(&shared.v[value_at<dim>(first + i, quad / 2)] + quad % 2 * 4) = four;
            }
        }
    }

    __device__ void finish_values(Shared<dim>& shared) const
    {
        if (l_.values_in_keys || l_.v_type == KvType::F16)
            return;
        uint2 bytes[kUnits];
#pragma unroll
        for (int i = 0; i < kUnits; ++i)
            if (const int eight = first_eight() + i * kOfToken; eight < l_.v_dim / 8)
                bytes[i] = *reinterpret_cast<const uint2*>(value_bytes(shared, eight));
        const float scale = shared.v_scale[threadIdx.x];
        __syncthreads();  // nobody's bytes are in the way
#pragma unroll
        for (int i = 0; i < kUnits; ++i)
            if (const int eight = first_eight() + i * kOfToken; eight < l_.v_dim / 8) {
                const float4 a = bytes_to_floats(bytes[i].x);
                const float4 b = bytes_to_floats(bytes[i].y);
                *reinterpret_cast<uint4*>(value(shared, eight)) =
                    make_uint4(two_halves(a.x * scale, a.y * scale), two_halves(a.z * scale, a.w * scale),
                               two_halves(b.x * scale, b.y * scale), two_halves(b.z * scale, b.w * scale));
            }
    }

private:
    static constexpr int kTogether = kThreads<dim> / kRuns<dim>;  // threads that fetch a run
    static_assert(kTogether % kWarp == 0);
    static constexpr int kUnits =
        (2 * dim + kTogether - 1) / kTogether;  // of eight keys or values, that a thread takes
    static __device__ int run()
    {
        return int(threadIdx.x) / kTogether;
    }
    static __device__ int index()
    {
        return int(threadIdx.x) % kTogether;
    }

    // A thread takes four values each of two tokens' keys, always of the same two tokens.
    static constexpr int kQuadsApart = kTogether / 8;
    static __device__ int first_quad()
    {
        return index() / 8;
    }
    static __device__ int key_token()
    {
        return index() % 8 * 2;
    }
    static __device__ std::uint16_t* key(Shared<dim>& shared, int quad)
    {
        static_assert(kQuadsApart % 4 == 0);
        return &shared.k[key_at<dim>(run(), first_quad(), key_token())] + (quad - first_quad()) * kKvGroupTokens * 4;
    }
    static __device__ std::byte* key_bytes(Shared<dim>& shared, int quad)
    {
        return reinterpret_cast<std::byte*>(shared.k) + kTile<dim> * dim + (run() * dim + 4 * quad) * kKvGroupTokens +
               4 * key_token();
    }

    // It takes eight values of one token at a time.
    static constexpr int kOfToken = kTogether / kKvGroupTokens;
    static __device__ int first_eight()
    {
        return index() % kOfToken;
    }
    static __device__ int value_token()
    {
        return index() / kOfToken;
    }
    static __device__ std::uint16_t* value(Shared<dim>& shared, int eight)
    {
        return &shared.v[value_at<dim>(kKvGroupTokens * run() + value_token(), eight)];
    }
    static __device__ std::byte* value_bytes(Shared<dim>& shared, int eight)
    {
        const int token = value_token();
        const int place = eight ^ (2 * (dim % 128 == 0 ? token % 8 : token / 2 % 4));  // as value_at: for the banks
        return reinterpret_cast<std::byte*>(shared.v) + kTile<dim> * dim + (kKvGroupTokens * run() + token) * dim +
               8 * place;
    }

    __device__ void find_run(int token)
    {
        const auto in_block = unsigned(l_.tokens);
        const unsigned block = unsigned(token) / in_block;
        const std::uint64_t column = token < end_ ? a_.blocks[block] : 0;
        run_.block = column ? reinterpret_cast<const std::byte*>(column) + head_ : nullptr;
        run_.at = token - int(block * in_block);
        run_.tokens = run_.block ? end_ - token : 0;
    }

    const AttendManyArguments& a_;
    const kernels::KvBlockLayout& l_;
    std::size_t head_;
    int end_;
    Run run_{};
};

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
