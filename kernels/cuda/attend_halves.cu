// Attention for a few rows on tensor cores. Tokens are the rows of the matrices that these multiply, and a thread
// block's heads the columns. Keys and values are fp16, or integers, which fp16 holds exactly. Each query and weight is
// split into
// two fp16 numbers, the second of which holds what the first rounds away, so the result is nearly as exact as with
// floats.
#include "kernels/cuda/attend_pieces.cuh"
#include "kernels/cuda/power_of_two.cuh"

using namespace kernels::cuda;
using kernels::kKvGroupTokens;
using kernels::KvType;

namespace {

// Of a product's 16 x 8 results a lane holds two rows of two columns each, which group() and place() name: see
// device.h.
__device__ inline int group()
{
    return lane() / 4;
}
__device__ inline int place()
{
    return lane() % 4;
}

/// Sets of eight columns. A head has two columns of fp16 numbers; the first ones of all heads come before the second
/// ones. With eight heads the first ones are one set, and the second ones another.
template <int heads>
constexpr int kSets = heads * 2 / 8;

template <int heads>
struct SharedOf {
    uint2* q;           // (k_dim / 16, kSets, 8 columns, 4 places): four values each
    float* unscale;     // (heads,) factors that undo the scaling of queries to the range of fp16
    float* v_scale;     // (piece_tokens,) of values that have one
    float* value_unit;  // one: what the values' sums are multiples of
    std::uint16_t* weights;
    int weights_stride;  // of a column
    float* scores;
    int scores_stride;  // of a head
    float* parts;       // (kAttendWarps, heads, pass), in the place of scores that have been used

    __device__ SharedOf(const AttendArguments& a, int pass)
    {
        const AttendHalvesShared at(a.layout.k_dim, a.piece_tokens, heads, pass);
        std::byte* from = dynamic_shared();
        q = reinterpret_cast<uint2*>(from);
        unscale = reinterpret_cast<float*>(from + at.unscale);
        v_scale = reinterpret_cast<float*>(from + at.v_scale);
        value_unit = reinterpret_cast<float*>(from + at.value_unit);
        weights = reinterpret_cast<std::uint16_t*>(from + at.weights);
        weights_stride = at.weights_stride;
        scores = parts = reinterpret_cast<float*>(from + at.scores);
        scores_stride = at.scores_stride;
    }
};

/// Holds a float as two fp16 numbers.
struct HighAndLow {
    std::uint16_t high, low;
    __device__ explicit HighAndLow(float x)
        : high(std::uint16_t(two_halves(x, 0.0f)))
        , low(std::uint16_t(two_halves(x - half_to_float(high), 0.0f)))
    {
    }
};

// ---- queries ----

/// Writes the queries into shared memory, each as two fp16 numbers, a warp for each head.
template <int heads>
__device__ void prepare(const SharedOf<heads>& shared, const float* q, int k_dim, int live_heads, float scale)
{
#pragma unroll 1
    for (int h = warp(); h < heads; h += kAttendWarps) {
        const auto quad_at = [&](int quad) {
            const float4 v = h < live_heads ? reinterpret_cast<const float4*>(q + h * k_dim)[quad]
                                            : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
            return make_float4(v.x * scale, v.y * scale, v.z * scale, v.w * scale);
        };
        float largest = 0.0f;
        for (int quad = lane(); quad < k_dim / 4; quad += kWarp) {
            const float4 v = quad_at(quad);
            largest = fmaxf(largest, fmaxf(fmaxf(fabsf(v.x), fabsf(v.y)), fmaxf(fabsf(v.z), fabsf(v.w))));
        }
        const float unit = scale_to_halves(warp_max(largest));
        for (int quad = lane(); quad < k_dim / 4; quad += kWarp) {
            const float4 v = quad_at(quad);
            const HighAndLow x(v.x * unit), y(v.y * unit), z(v.z * unit), w(v.w * unit);
            const auto put = [&](int column, std::uint16_t a, std::uint16_t b, std::uint16_t c, std::uint16_t d) {
                const int set = quad / 4 * kSets<heads> + column / 8;
                shared.q[(set * 8 + column % 8) * 4 + quad % 4] =
                    make_uint2(unsigned(a) | unsigned(b) << 16, unsigned(c) | unsigned(d) << 16);
            };
            put(h, x.high, y.high, z.high, w.high);
            put(heads + h, x.low, y.low, z.low, w.low);
        }
        if (lane() == 0)
            shared.unscale[h] = inverse_of(unit);
    }
}

// ---- keys ----

/// Four values each of two tokens that follow each other, as they lie in a KV block.
template <KvType type>
struct KeysOf {
    using Bytes = uint4;
    static __device__ void unpack(const Bytes& from, std::uint32_t (&k)[4])
    {
        k[0] = from.x;
        k[1] = from.z;
        k[2] = from.y;
        k[3] = from.w;
    }
};
template <>
struct KeysOf<KvType::Q8_0> {
    using Bytes = uint2;
    static __device__ void unpack(const Bytes& from, std::uint32_t (&k)[4])
    {
        const uint2 first = bytes_to_halves(from.x), second = bytes_to_halves(from.y);
        k[0] = first.x;
        k[1] = second.x;
        k[2] = first.y;
        k[3] = second.y;
    }
};

/// How many steps of 16 values are under way together. The length of keys is a multiple of that.
template <KvType type, int pass>
constexpr int kStepsAtOnce = type == KvType::Q8_0 ? pass / 16 : 4;

/// Returns the first run of 16 tokens that the warp takes, from the piece's first token on: it takes every fourth run.
__device__ inline int first_run(const Piece& piece)
{
    const int run = piece.first / kKvGroupTokens;
    return run + ((warp() - (run - piece.begin / kKvGroupTokens)) & (kAttendWarps - 1));
}

template <KvType type, int heads, int pass>
__device__ void score(const AttendArguments& a, const Piece& piece, const SharedOf<heads>& shared)
{
    constexpr int kSteps = kStepsAtOnce<type, pass>;
    using Keys = KeysOf<type>;
    using Bytes = typename Keys::Bytes;
    const int steps = a.layout.k_dim / 16;
    const auto* keys = reinterpret_cast<const Bytes*>(piece.block) + 8 * place() + group();
    const auto* scales = reinterpret_cast<const float*>(piece.block + a.layout.k_scales_offset()) + 2 * group();
    const auto load = [&](int run, int begin, Bytes(&to)[kSteps]) {
#pragma unroll
        for (int i = 0; i < kSteps; ++i)
            to[i] = run * kKvGroupTokens < piece.last ? keys[(run * steps + begin + i) * kWarp] : Bytes{};
    };
    Bytes next[kSteps];
    int run = first_run(piece);
    load(run, 0, next);
#pragma unroll 1
    for (; run * kKvGroupTokens < piece.last; run += kAttendWarps) {
        float2 scale = make_float2(1.0f, 1.0f);
        if (type == KvType::Q8_0)
            scale = *reinterpret_cast<const float2*>(scales + run * kKvGroupTokens);
        float sums[kSets<heads>][4] = {};
#pragma unroll 1
        for (int begin = 0; begin < steps; begin += kSteps) {
            Bytes bytes[kSteps];
#pragma unroll
            for (int i = 0; i < kSteps; ++i)
                bytes[i] = next[i];
            const bool more = begin + kSteps < steps;
            load(more ? run : run + kAttendWarps, more ? begin + kSteps : 0, next);
#pragma unroll
            for (int i = 0; i < kSteps; ++i) {
                std::uint32_t k[4];
                Keys::unpack(bytes[i], k);
#pragma unroll
                for (int set = 0; set < kSets<heads>; ++set) {
                    const uint2 q = shared.q[((begin + i) * kSets<heads> + set) * kWarp + lane()];
                    multiply_halves(sums[set], k, {q.x, q.y});
                }
            }
        }
        float both[4];  // for two tokens and two heads: the sum of what the queries' two fp16 numbers make
#pragma unroll
        for (int i = 0; i < 4; ++i)
            both[i] =
                sums[0][i] + (heads == 4 ? __shfl_xor_sync(kWholeWarp, sums[0][i], 2) : sums[kSets<heads> - 1][i]);
        if (2 * place() >= heads)
            continue;
        float* to =
            shared.scores + 2 * place() * shared.scores_stride + run * kKvGroupTokens - piece.begin + 2 * group();
        const float2 unscale = *reinterpret_cast<const float2*>(shared.unscale + 2 * place());
        *reinterpret_cast<float2*>(to) = make_float2(both[0] * unscale.x * scale.x, both[2] * unscale.x * scale.y);
        *reinterpret_cast<float2*>(to + shared.scores_stride) =
            make_float2(both[1] * unscale.y * scale.x, both[3] * unscale.y * scale.y);
    }
}

// ---- weights ----

/// How many of the values' scales a thread loads, at most, while keys are multiplied.
constexpr int kScalesOfThread = kMostPieceTokens / kAttendThreads;

__device__ inline void load_scales(const AttendArguments& a, const Piece& piece, float (&to)[kScalesOfThread])
{
    const auto* scales = reinterpret_cast<const float*>(piece.block + a.layout.v_scales_offset()) + piece.begin;
#pragma unroll
    for (int i = 0; i < kScalesOfThread; ++i) {
        const int t = int(threadIdx.x) + i * kAttendThreads;
        const bool seen = t >= piece.first - piece.begin && t < piece.last - piece.begin;
        to[i] = seen && a.layout.v_type == KvType::Q8_0 ? scales[t] : 1.0f;
    }
}

__device__ inline void keep_scales(const Piece& piece, const float (&from)[kScalesOfThread], float* to)
{
#pragma unroll
    for (int i = 0; i < kScalesOfThread; ++i)
        if (const int t = int(threadIdx.x) + i * kAttendThreads; t < piece.last - piece.begin)
            to[t] = from[i];
}

/// Turns scores into weights, multiplied by the values' scales and a power of two for all of them; tokens of the runs
/// that are not seen get zeros.
template <int heads>
__device__ void weigh(const AttendArguments& a, const Piece& piece, int live_heads, const SharedOf<heads>& shared,
                      float* max, float* sum)
{
    const int first = piece.first - piece.begin, last = piece.last - piece.begin;
    float largest = 0.0f;
#pragma unroll 2
    for (int t = first + lane(); t < last; t += kWarp)
        largest = fmaxf(largest, fabsf(shared.v_scale[t]));
    const float unit = scale_to_halves(warp_max(largest));
    if (threadIdx.x == 0)
        *shared.value_unit = inverse_of(unit);
#pragma unroll 1
    for (int h = warp(); h < heads; h += kAttendWarps) {
        std::uint16_t* high = shared.weights + h * shared.weights_stride;
        std::uint16_t* low = high + heads * shared.weights_stride;
        const bool live = h < live_heads;
        weigh_head(
            a, piece, live ? max + h * a.max_pieces : nullptr, sum + h * a.max_pieces,
            [&](int t) -> float& { return shared.scores[h * shared.scores_stride + t]; },
            [&](int t, float weight) {
                const HighAndLow both(weight * shared.v_scale[t] * unit);
                high[t] = both.high;
                low[t] = both.low;
            });
        const int unseen = lane() < 16 ? first / 16 * 16 + lane() : last + lane() - 16;
        if (lane() < 16 ? unseen < first : unseen < (last + 15) / 16 * 16)
            high[unseen] = low[unseen] = 0;
    }
}

// ---- values ----

/// A lane has pass / 8 values that follow each other of each of four tokens. For a tile, unpack() gives what tensor
/// cores take of them: two rows, since rows are dimensions.
template <KvType type, int pass>
struct ValuesOf {
    static constexpr int kOfLane = pass / 8;
    static constexpr int kWords = kOfLane / 2;
    static __device__ void unpack(const std::uint32_t (&v)[4][kWords], int tile, std::uint32_t (&to)[4])
    {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            to[2 * i] = __byte_perm(v[2 * i][tile], v[2 * i + 1][tile], 0x5410);
            to[2 * i + 1] = __byte_perm(v[2 * i][tile], v[2 * i + 1][tile], 0x7632);
        }
    }
};
template <int pass>
struct ValuesOf<KvType::Q8_0, pass> {
    static constexpr int kOfLane = pass / 8;
    static constexpr int kWords = kOfLane / 4;
    static __device__ void unpack(const std::uint32_t (&v)[4][kWords], int tile, std::uint32_t (&to)[4])
    {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const uint2 halves = bytes_to_halves(
                __byte_perm(v[2 * i][tile / 2], v[2 * i + 1][tile / 2], tile % 2 == 0 ? 0x5140 : 0x7362));
            to[2 * i] = halves.x;
            to[2 * i + 1] = halves.y;
        }
    }
};

/// Loads values of the lane's four tokens of a run, where values are the first part of their keys: four values of each
/// token lie together. Tokens that are not seen give zeros.
template <KvType type, int pass>
__device__ inline void load_values_in_keys(const AttendArguments& a, const Piece& piece, int run, int begin,
                                           std::uint32_t (&to)[4][ValuesOf<type, pass>::kWords])
{
    using Values = ValuesOf<type, pass>;
    constexpr int kWordsOfFour = int(kv_value_bytes(type));
    const int t = run * kKvGroupTokens + 4 * place();
    const bool any = t + 4 > piece.first && t < piece.last;
    const auto* from = reinterpret_cast<const uint4*>(
        piece.block + kv_value_bytes(type) * a.layout.k_index(t, begin + Values::kOfLane * group()));
#pragma unroll
    for (int quad = 0; quad < Values::kOfLane / 4; ++quad) {
        std::uint32_t words[4 * kWordsOfFour];
#pragma unroll
        for (int j = 0; j < kWordsOfFour; ++j) {
            const uint4 four = any ? from[quad * kKvGroupTokens / 4 * kWordsOfFour + j] : uint4{};
            words[4 * j] = four.x;
            words[4 * j + 1] = four.y;
            words[4 * j + 2] = four.z;
            words[4 * j + 3] = four.w;
        }
#pragma unroll
        for (int i = 0; i < 4; ++i) {
            const bool seen = t + i >= piece.first && t + i < piece.last;
#pragma unroll
            for (int j = 0; j < kWordsOfFour; ++j)
                to[i][quad * kWordsOfFour + j] = seen ? words[i * kWordsOfFour + j] : 0;
        }
    }
}

/// Does the same where a token's values lie together.
template <KvType type, int pass>
__device__ inline void load_values_apart(const AttendArguments& a, const Piece& piece, int run, int begin,
                                         std::uint32_t (&to)[4][ValuesOf<type, pass>::kWords])
{
    using Values = ValuesOf<type, pass>;
    constexpr int kBytes = 4 * Values::kWords;
    const std::byte* values =
        piece.block + a.layout.v_offset() + kv_value_bytes(type) * std::size_t(begin + Values::kOfLane * group());
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int t = run * kKvGroupTokens + 4 * place() + i;
        const bool seen = t >= piece.first && t < piece.last;
        const std::byte* from = values + kv_value_bytes(type) * std::size_t(t * a.layout.v_dim);
        if constexpr (kBytes == 8) {
            const uint2 two = seen ? *reinterpret_cast<const uint2*>(from) : uint2{};
            to[i][0] = two.x;
            to[i][1] = two.y;
        } else {
#pragma unroll
            for (int j = 0; j < Values::kWords / 4; ++j) {
                const uint4 four = seen ? reinterpret_cast<const uint4*>(from)[j] : uint4{};
                to[i][4 * j] = four.x;
                to[i][4 * j + 1] = four.y;
                to[i][4 * j + 2] = four.z;
                to[i][4 * j + 3] = four.w;
            }
        }
    }
}

template <KvType type, int pass, bool in_keys>
__device__ inline void load_values(const AttendArguments& a, const Piece& piece, int run, int begin,
                                   std::uint32_t (&to)[4][ValuesOf<type, pass>::kWords])
{
    if constexpr (in_keys)
        load_values_in_keys<type, pass>(a, piece, run, begin, to);
    else
        load_values_apart<type, pass>(a, piece, run, begin, to);
}

/// out[h][d] = sum of weights[h][t] * v[t][d] for `pass` dimensions from `begin` on: each warp adds up its runs, and
/// their sums are added in order. `next`: the values of its first run.
template <KvType type, int heads, int pass, bool in_keys>
__device__ void add_values(const AttendArguments& a, const Piece& piece, int begin, int live_heads,
                           const SharedOf<heads>& shared, std::uint32_t (&next)[4][ValuesOf<type, pass>::kWords],
                           float* out)
{
    using Values = ValuesOf<type, pass>;
    constexpr int kTiles = pass / 16;
    float sums[kTiles][4] = {};
#pragma unroll 1
    for (int run = first_run(piece); run * kKvGroupTokens < piece.last; run += kAttendWarps) {
        std::uint32_t v[4][Values::kWords];
#pragma unroll
        for (int i = 0; i < 4; ++i)
#pragma unroll
            for (int j = 0; j < Values::kWords; ++j)
                v[i][j] = next[i][j];
        load_values<type, pass, in_keys>(a, piece, run + kAttendWarps, begin, next);
        uint2 weights[kSets<heads>];
#pragma unroll
        for (int set = 0; set < kSets<heads>; ++set)
            weights[set] =
                *reinterpret_cast<const uint2*>(shared.weights + (8 * set + group()) * shared.weights_stride +
                                                run * kKvGroupTokens - piece.begin + 4 * place());
#pragma unroll
        for (int tile = 0; tile < kTiles; ++tile) {
            std::uint32_t rows[4];
            Values::unpack(v, tile, rows);
#pragma unroll
            for (int set = 0; set < kSets<heads>; ++set)
                multiply_halves(sums[tile], rows, {weights[set].x, weights[set].y});
        }
    }

    float* part = shared.parts + (warp() * heads + 2 * place()) * pass + Values::kOfLane * group();
#pragma unroll
    for (int tile = 0; tile < kTiles; ++tile) {
        float(&s)[4] = sums[tile];
        if (heads == 4)
            for (int i = 0; i < 4; ++i)
                s[i] += __shfl_xor_sync(kWholeWarp, s[i], 2);
        if (2 * place() < heads) {
            *reinterpret_cast<float2*>(part + 2 * tile) = make_float2(s[0], s[2]);
            *reinterpret_cast<float2*>(part + pass + 2 * tile) = make_float2(s[1], s[3]);
        }
    }
    __syncthreads();
    const float unit = *shared.value_unit;
#pragma unroll 1
    for (int quad = int(threadIdx.x); quad < live_heads * pass / 4; quad += kAttendThreads) {
        float4 total = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
        for (int w = 0; w < kAttendWarps; ++w) {
            const float4 of_warp = reinterpret_cast<const float4*>(shared.parts + w * heads * pass)[quad];
            total.x += of_warp.x;
            total.y += of_warp.y;
            total.z += of_warp.z;
            total.w += of_warp.w;
        }
        const int head = quad / (pass / 4), d = quad % (pass / 4) * 4;
        *reinterpret_cast<float4*>(out + head * a.layout.v_dim + begin + d) =
            make_float4(total.x * unit, total.y * unit, total.z * unit, total.w * unit);
    }
    __syncthreads();  // weights and parts have been used
}

// ---- kernel ----

template <KvType k_type, KvType v_type, int heads, int pass, bool in_keys = false>
__device__ inline void attend_piece(const AttendArguments& a, const Piece& piece, int live_heads,
                                    const Partial& partial, const SharedOf<heads>& shared)
{
    // The values are under way while the keys are multiplied.
    std::uint32_t values[4][ValuesOf<v_type, pass>::kWords];
    load_values<v_type, pass, in_keys>(a, piece, first_run(piece), 0, values);
    float scales[kScalesOfThread];
    load_scales(a, piece, scales);
    score<k_type, heads, pass>(a, piece, shared);
    keep_scales(piece, scales, shared.v_scale);
    __syncthreads();
    weigh<heads>(a, piece, live_heads, shared, a.max + partial.of_sums, a.sum + partial.of_sums);
    __syncthreads();
    float* out = a.out + partial.of_values;
    add_values<v_type, heads, pass, in_keys>(a, piece, 0, live_heads, shared, values, out);
#pragma unroll 1
    for (int begin = pass; begin < a.layout.v_dim; begin += pass) {
        load_values<v_type, pass, in_keys>(a, piece, first_run(piece), begin, values);
        add_values<v_type, heads, pass, in_keys>(a, piece, begin, live_heads, shared, values, out);
    }
}

// pass: dimensions of the values that are added up at a time: 128 of bytes, 64 of halves, as many as registers hold
template <int heads, int pass>
__device__ void attend(const AttendArguments& a)
{
    const SharedOf<heads> shared(a, pass);
    attend_pieces<heads, true>(
        a,
        [&](const float* q, int live_heads, float scale) {
            prepare<heads>(shared, q, a.layout.k_dim, live_heads, scale);
        },
        [&](const Piece& piece, int live_heads, const Partial& partial) {
            constexpr auto kQ8 = KvType::Q8_0, kF16 = KvType::F16;
            const bool bytes = pass == 128 || a.layout.v_type == kQ8;
            if (a.layout.values_in_keys && bytes)
                attend_piece<kQ8, kQ8, heads, pass, true>(a, piece, live_heads, partial, shared);
            else if (a.layout.values_in_keys)
                attend_piece<kF16, kF16, heads, 64, true>(a, piece, live_heads, partial, shared);
            else if (a.layout.k_type == kQ8 && bytes)
                attend_piece<kQ8, kQ8, heads, pass>(a, piece, live_heads, partial, shared);
            else if (bytes)
                attend_piece<kF16, kQ8, heads, pass>(a, piece, live_heads, partial, shared);
            else if (a.layout.k_type == kQ8)
                attend_piece<kQ8, kF16, heads, 64>(a, piece, live_heads, partial, shared);
            else
                attend_piece<kF16, kF16, heads, 64>(a, piece, live_heads, partial, shared);
        });
}

}  // namespace

#define ATTEND_HALVES(heads, pass)                                                                                     \
    extern "C" __global__ void __launch_bounds__(kAttendThreads, kAttendBlocks)                                        \
        attend_##heads##_##pass(const __grid_constant__ AttendArguments a)                                             \
    {                                                                                                                  \
        attend<heads, pass>(a);                                                                                        \
    }                                                                                                                  \
    EMULATED(attend_##heads##_##pass)

ATTEND_HALVES(4, 64);
ATTEND_HALVES(4, 128);
ATTEND_HALVES(8, 64);
ATTEND_HALVES(8, 128);
