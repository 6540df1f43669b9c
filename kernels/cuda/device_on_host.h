// Gives CUDA's names a meaning for the host's compiler: what device.h includes where there is no nvcc. Threads are
// fibers and a warp is 32 of them; what they do together is declared here and done by the emulator
// (tests/support/cuda/grid.cpp).
#pragma once

#include "kernels/half.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

// NOLINTBEGIN(bugprone-reserved-identifier): the names are CUDA's

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __align__(bytes) alignas(bytes)
#define __shared__ static thread_local  // a block runs on one thread of the host
#define __constant__ static const
#define __grid_constant__

// ---- the emulator's side ----

namespace kernels::cuda::host {

/// A place in a kernel's source.
struct Where {
    const char* file = "";
    int line = 0;
    static constexpr Where here(const char* file = __builtin_FILE(), int line = __builtin_LINE())
    {
        return {file, line};
    }
    bool operator==(const Where&) const = default;
};

constexpr std::size_t kExchangeBytes = 64;  // at most, of a lane

void block_barrier(Where where);
/// Waits for the warp, and gives what each lane brought: (32, bytes), valid until this lane waits again.
const std::byte* warp_exchange(unsigned mask, const void* mine, std::size_t bytes, Where where);

/// What each lane of the warp brought.
template <class T, int count>
class Exchange
{
public:
    explicit Exchange(const T (&mine)[count], Where where = Where::here())
        : all_(warp_exchange(~0u, mine, sizeof mine, where))
    {
    }
    const T* of(int lane) const { return reinterpret_cast<const T*>(all_) + std::ptrdiff_t(lane) * count; }

private:
    const std::byte* all_;
};

std::byte* dynamic_shared();

inline void store_release(int* at, int value)
{
    std::atomic_ref(*at).store(value, std::memory_order_release);
}
template <class T>
T load_acquire(const T* at)
{
    return std::atomic_ref(*const_cast<T*>(at)).load(std::memory_order_acquire);
}
inline unsigned count_up(unsigned* counter)
{
    return std::atomic_ref(*counter).fetch_add(1, std::memory_order_acq_rel);
}
std::uint64_t now_ns();
void yield();  // to the host's other threads

/// Checks that an address is aligned, in twins of instructions that move more bytes than the type of their pointer has.
void must_be_aligned(const void* at, std::size_t bytes, Where where);

/// Calls of wait_for_previous() so far, of all threads of all kernels.
inline std::atomic<std::uint64_t> waits{0};

/// Bytes that kernels have asked for so far.
inline std::atomic<std::uint64_t> asked_bytes{0};
inline void ask_for(const std::byte* at, std::size_t bytes, Where where = Where::here())
{
    must_be_aligned(at, 16, where);
    must_be_aligned(at + bytes, 16, where);
    const volatile std::byte *const first = at, *const last = at + bytes - 1;
    (void)*first, (void)*last;  // they can be read
    asked_bytes += bytes;
}

// A copy arrives when it is waited for, not before: a kernel that forgets to wait reads what was there.
void copy_async(void* to, const void* from, std::size_t bytes, Where where = Where::here());
void commit_copies();
void wait_for_copies(int groups_still_under_way);

/// A kernel as the emulated driver calls it.
struct HostKernel {
    const char* name;
    void (*function)();
    void (*call)(void (*function)(), void** arguments);
    std::vector<std::size_t> argument_bytes;
};
void register_kernel(HostKernel kernel);

template <class... Args>
struct Registration {
    Registration(const char* name, void (*kernel)(Args...))
    {
        const auto call = [](void (*function)(), void** arguments) {
            [&]<std::size_t... I>(std::index_sequence<I...>)
            {
                reinterpret_cast<void (*)(Args...)>(function)(*static_cast<Args*>(arguments[I])...);
            }
            (std::index_sequence_for<Args...>());
        };
        register_kernel({name, reinterpret_cast<void (*)()>(kernel), call, {sizeof(Args)...}});
    }
};

inline int dot4(std::uint32_t a, std::uint32_t b, int c)
{
    for (int shift = 0; shift < 32; shift += 8)
        c += int(std::int8_t(a >> shift)) * int(std::int8_t(b >> shift));
    return c;
}

}  // namespace kernels::cuda::host

#define EMULATED(kernel) static const kernels::cuda::host::Registration registration_of_##kernel(#kernel, kernel)

// ---- CUDA's names ----

struct uint3 {
    unsigned x, y, z;
};
struct alignas(8) uint2 {
    unsigned x, y;
};
struct alignas(16) uint4 {
    unsigned x, y, z, w;
};
struct alignas(8) float2 {
    float x, y;
};
struct alignas(16) float4 {
    float x, y, z, w;
};

inline uint2 make_uint2(unsigned x, unsigned y)
{
    return {x, y};
}
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w)
{
    return {x, y, z, w};
}
inline float2 make_float2(float x, float y)
{
    return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w)
{
    return {x, y, z, w};
}

// The thread and the thread block that the running fiber stands for.
extern constinit thread_local uint3 threadIdx;
extern constinit thread_local uint3 blockIdx;
extern constinit thread_local uint3 blockDim;
extern constinit thread_local uint3 gridDim;

inline void __syncthreads(kernels::cuda::host::Where where = kernels::cuda::host::Where::here())
{
    kernels::cuda::host::block_barrier(where);
}

inline void __syncwarp(unsigned mask = 0xffffffffu,
                       kernels::cuda::host::Where where = kernels::cuda::host::Where::here())
{
    kernels::cuda::host::warp_exchange(mask, nullptr, 0, where);
}

template <class T>
T __shfl_sync(unsigned mask, T mine, int from, kernels::cuda::host::Where where = kernels::cuda::host::Where::here())
{
    const std::byte* all = kernels::cuda::host::warp_exchange(mask, &mine, sizeof mine, where);
    T theirs;
    std::memcpy(&theirs, all + std::size_t(from % 32) * sizeof theirs, sizeof theirs);
    return theirs;
}

template <class T>
T __shfl_xor_sync(unsigned mask, T mine, int flip,
                  kernels::cuda::host::Where where = kernels::cuda::host::Where::here())
{
    return __shfl_sync(mask, mine, (int(threadIdx.x) % 32) ^ flip, where);
}

/// Returns a bit for each lane.
inline unsigned __ballot_sync(unsigned mask, int mine,
                              kernels::cuda::host::Where where = kernels::cuda::host::Where::here())
{
    const std::byte* all = kernels::cuda::host::warp_exchange(mask, &mine, sizeof mine, where);
    unsigned bits = 0;
    for (unsigned lane = 0; lane < 32; ++lane) {
        int theirs;
        std::memcpy(&theirs, all + lane * sizeof theirs, sizeof theirs);
        bits |= unsigned(theirs != 0) << lane;
    }
    return bits;
}
/// Returns four of the eight bytes of low and high. A nibble of `places` says which; if its topmost bit is set, all
/// bits are the byte's sign bit.
inline unsigned __byte_perm(unsigned low, unsigned high, unsigned places)
{
    const std::uint64_t all = std::uint64_t(high) << 32 | low;
    unsigned result = 0;
    for (unsigned i = 0; i < 4; ++i) {
        const unsigned place = places >> (4 * i) & 15;
        const unsigned byte = unsigned(all >> (8 * (place & 7))) & 255;
        result |= (place < 8 ? byte : (byte >> 7) * 255) << (8 * i);
    }
    return result;
}
inline float __int2float_rn(int x)
{
    return float(x);
}
inline unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift)
{
    return unsigned((std::uint64_t(high) << 32 | low) >> (shift % 32));
}
inline int __popc(unsigned bits)
{
    return std::popcount(bits);
}

inline float __uint_as_float(unsigned bits)
{
    return std::bit_cast<float>(bits);
}
inline unsigned __float_as_uint(float x)
{
    return std::bit_cast<unsigned>(x);
}
inline float rsqrtf(float x)
{
    return 1.0f / std::sqrt(x);
}
inline int __float2int_rn(float x)
{
    return std::isnan(x) ? 0 : int(std::lrint(x));  // as the device does
}

// A product that is not to be fused with what follows.
inline float __fmul_rn(float a, float b)
{
    return a * b;
}
inline float __fadd_rn(float a, float b)
{
    return a + b;
}
inline float __fdiv_rn(float a, float b)
{
    return a / b;
}
inline float __fmaf_rn(float a, float b, float c)
{
    return std::fma(a, b, c);
}

using std::max;
using std::min;

// NOLINTEND(bugprone-reserved-identifier)
