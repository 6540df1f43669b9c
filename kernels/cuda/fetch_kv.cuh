// Fetches keys and values of paged KV into shared memory, a tile of tokens at a time, and makes halves of them: for
// thread blocks whose queries are many and are multiplied on tensor cores.
#pragma once

#include "kernels/cuda/attend.h"
#include "kernels/cuda/device.h"

namespace kernels::cuda {

template <int dim>
constexpr int kTile = dim <= 128   ? 64
                      : dim <= 256 ? 32
                                   : 16;  // tokens at a time: what fits shared memory
template <int dim>
constexpr int kRuns = kTile<dim> / kKvGroupTokens;  // runs of tokens that lie together in a KV block
template <int dim>
constexpr int kThreads = attend_many_threads(dim);

/// Holds the keys and the values of a tile of tokens in shared memory.
template <int dim>
struct Shared {
    __align__(16) std::uint16_t k[kTile<dim> * dim];
    __align__(16) std::uint16_t v[kTile<dim> * dim];
    float k_scale[2][kTile<dim>];  // of this tile and the next
    int present[2][kRuns<dim>];    // whether the run is on the device
    float v_scale[kThreads<dim>];  // of the token whose values a thread fetches
};

/// Returns where four values of a token's key begin. Keys lie as in a KV block, so that they come by plain copies: of
/// each run four values of 16 tokens side by side. Tokens change places, so that the words of four lanes with the same
/// tokens are in different banks.
template <int dim>
__device__ inline int key_at(int run, int quad, int token)
{
    return ((run * (dim / 4) + quad) * kKvGroupTokens + (token ^ (4 * (quad % 4)))) * 4;
}

/// Returns where eight values of a token begin. Values lie token by token, eight of them together, which change places
/// so that those of eight tokens are in different banks.
template <int dim>
__device__ inline int value_at(int token, int eight)
{
    return token * dim + 8 * (eight ^ (token % 8));
}

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

/// Fetches keys and values of one KV head for a thread block, whose threads call each function together. They are on
/// their way until the caller has waited for the copies; what was stored as bytes is then finished.
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

    /// Puts zeros beyond the keys' dimensions, also for runs that are not on the device: queries have zeros there too.
    __device__ void clear(Shared<dim>& shared) const;

    /// Fetches the keys of tokens first .. first + kTile<dim> - 1. What is fetched for tokens that no query sees does
    /// not matter. Bytes are put where they do not overlap with the halves that a thread makes of what it has fetched.
    __device__ void fetch_keys(int first, int slot, Shared<dim>& shared);

    /// Turns the bytes that have arrived into halves. All threads must call it, and a barrier must follow.
    __device__ void finish_keys(Shared<dim>& shared) const;

    /// Fetches the values of the tokens whose keys were fetched last; zeros for those that no query sees. Where values
    /// are the first part of their keys, take_values_of_keys() does it.
    __device__ void fetch_values(Shared<dim>& shared) const;

    /// Copies the values that are a part of the keys. A thread takes those that it fetched, so it waits for no other.
    __device__ void take_values_of_keys(Shared<dim>& shared, int slot) const;

    /// Does for values what finish_keys() does for keys.
    __device__ void finish_values(Shared<dim>& shared) const;

private:
    static constexpr int kTogether = kThreads<dim> / kRuns<dim>;  // threads that fetch a run
    static_assert(kTogether % kWarp == 0);
    static constexpr int kUnits =
        (2 * dim + kTogether - 1) / kTogether;  // of eight keys or values, that a thread takes
    static __device__ int run() { return int(threadIdx.x) / kTogether; }
    static __device__ int index() { return int(threadIdx.x) % kTogether; }

    // A thread takes four values each of two tokens' keys, always of the same two tokens.
    static constexpr int kQuadsApart = kTogether / 8;
    static __device__ int first_quad() { return index() / 8; }
    static __device__ int key_token() { return index() % 8 * 2; }
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
    static __device__ int first_eight() { return index() % kOfToken; }
    static __device__ int value_token() { return index() / kOfToken; }
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

template <int dim>
__device__ inline void Fetching<dim>::clear(Shared<dim>& shared) const
{
    if (l_.k_dim == dim)
        return;  // the whole block
    for (int i = int(threadIdx.x); i < kTile<dim> * dim / 8; i += kThreads<dim>)
        reinterpret_cast<uint4*>(shared.k)[i] = make_uint4(0, 0, 0, 0);
    __syncthreads();
}

template <int dim>
__device__ inline void Fetching<dim>::fetch_keys(int first, int slot, Shared<dim>& shared)
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
            // Parts of the caller's scores have been where the zeros beyond the keys were.
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

template <int dim>
__device__ inline void Fetching<dim>::finish_keys(Shared<dim>& shared) const
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

template <int dim>
__device__ inline void Fetching<dim>::fetch_values(Shared<dim>& shared) const
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

template <int dim>
__device__ inline void Fetching<dim>::take_values_of_keys(Shared<dim>& shared, int slot) const
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

template <int dim>
__device__ inline void Fetching<dim>::finish_values(Shared<dim>& shared) const
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

}  // namespace kernels::cuda
