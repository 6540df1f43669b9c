// Provides what kernels are written in: the one header that .cu files include. Under nvcc it brings in CUDA's own;
// compiled as C++ for the host it gives the same names a meaning there, so that every kernel also runs in the tests, on
// the emulator of tests/support/cuda. Inline PTX stands in this file only, each piece in a wrapper with a host twin.
#pragma once

#ifdef __CUDACC__
#include <cuda_fp16.h>

#include <cstddef>
#include <cstdint>

// Makes a kernel known to the emulator.
#define EMULATED(kernel) static_assert(true)
// Marks a function that is compiled once for all kernels of a file and called, not inlined.
#define CALLED __noinline__
#else
#include "kernels/cuda/device_on_host.h"
#define CALLED
#endif

namespace kernels::cuda {

constexpr unsigned kWholeWarp = 0xffffffffu;
constexpr int kWarp = 32;

__device__ inline int lane()
{
    return int(threadIdx.x % kWarp);
}

__device__ inline int warp()
{
    return int(threadIdx.x / kWarp);
}

/// Returns the shared memory whose size the launch gives.
__device__ inline std::byte* dynamic_shared()
{
#ifdef __CUDACC__
    extern __shared__ __align__(16) std::byte bytes[];
    return bytes;
#else
    return host::dynamic_shared();
#endif
}

/// Says whether four floats can be loaded from there at once.
__device__ inline bool is_aligned(const float* at)
{
    return reinterpret_cast<std::size_t>(at) % 16 == 0;
}

// ---- numbers ----

__device__ inline float half_to_float(std::uint16_t bits)
{
#ifdef __CUDACC__
    return __half2float(__ushort_as_half(bits));
#else
    return kernels::half_to_float(bits);
#endif
}

/// Rounds to nearest, ties to even. All NaNs become one.
__device__ inline std::uint16_t float_to_half(float x)
{
#ifdef __CUDACC__
    return __half_as_ushort(__float2half_rn(x));
#else
    return std::isnan(x) ? std::uint16_t(0x7fff) : kernels::float_to_half(x);
#endif
}

__device__ inline float bf16_to_float(std::uint16_t bits)
{
    return __uint_as_float(std::uint32_t(bits) << 16);
}

/// Returns 2^x, to about 22 bits; zero where it would not be a normal float.
__device__ inline float power_of_2(float x)
{
#ifdef __CUDACC__
    float power;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(power) : "f"(x));
    return power;
#else
    return std::exp2(x);
#endif
}

/// Returns four signed bytes as floats, the lowest first.
__device__ inline float4 bytes_to_floats(std::uint32_t bytes)
{
#ifdef __CUDACC__
    // A byte b + 128 put under the bits of 2^23 is the float 2^23 + 128 + b: cheaper than a conversion.
    const std::uint32_t shifted = bytes ^ 0x80808080u;
    const auto value = [&](unsigned i) {
        return __uint_as_float(__byte_perm(shifted, 0x4b000000u, 0x7540u + i)) - 8388736.0f;
    };
    return make_float4(value(0), value(1), value(2), value(3));
#else
    const auto value = [&](int i) { return float(std::int8_t(bytes >> (8 * i))); };
    return make_float4(value(0), value(1), value(2), value(3));
#endif
}

/// Returns four signed bytes as halves, two in a word.
__device__ inline uint2 bytes_to_halves(std::uint32_t bytes)
{
#ifdef __CUDACC__
    // A byte b + 128 put under the bits of 1024 is the half 1024 + 128 + b.
    const std::uint32_t shifted = bytes ^ 0x80808080u;
    const auto two = [&](unsigned places) {
        std::uint32_t q;
        asm("sub.f16x2 %0, %1, %2;"
            : "=r"(q)
            : "r"(__byte_perm(shifted, 0x64646464u, places)), "r"(0x64806480u));  // 1152
        return q;
    };
    return make_uint2(two(0x4140u), two(0x4342u));
#else
    const auto half = [&](int i) {
        return std::uint32_t(kernels::float_to_half(float(std::int8_t(bytes >> (8 * i)))));
    };
    return make_uint2(half(0) | half(1) << 16, half(2) | half(3) << 16);
#endif
}

/// Returns c + the products of four signed bytes.
__device__ inline int dot4(std::uint32_t a, std::uint32_t b, int c)
{
#ifdef __CUDACC__
    return __dp4a(int(a), int(b), c);
#else
    return host::dot4(a, b, c);
#endif
}

// ---- bytes ----

/// Adds to an address; `from` may also be an offset, which is no address by itself.
__device__ inline const std::byte* moved(const std::byte* from, std::size_t bytes)
{
    return reinterpret_cast<const std::byte*>(reinterpret_cast<std::size_t>(from) + bytes);
}

/// Returns the same address, as one of which the compiler knows that it is in global memory. An address that comes from
/// numbers, or from a table, could be in any memory, and loads that have to find out in which take longer.
__device__ inline const std::byte* in_global_memory(const std::byte* at)
{
#ifdef __CUDACC__
    return static_cast<const std::byte*>(__cvta_global_to_generic(reinterpret_cast<std::size_t>(at)));
#else
    return at;
#endif
}

/// Holds 16 bytes from any address on, in whole words. How far the address is beyond a multiple of four is given only
/// when they are used, since it is the same for all parts of a block.
struct AnyWords {
    std::uint32_t words[5];
    __device__ std::uint32_t word(int i, unsigned beyond) const
    {
        return std::uint32_t((std::uint64_t(words[i + 1]) << 32 | words[i]) >> (8 * beyond));
    }
};
__device__ inline unsigned beyond_words(const void* at)
{
    return unsigned(reinterpret_cast<std::uintptr_t>(at)) & 3u;
}
__device__ inline AnyWords read_any(const void* at)
{
    AnyWords any{};
    const unsigned beyond = beyond_words(at);
#ifdef __CUDACC__
    // After the 16 bytes no more is read than the rest of a word: a device's memory does not end within a word.
    const auto* words = reinterpret_cast<const std::uint32_t*>(static_cast<const std::byte*>(at) - beyond);
    for (int i = 0; i < 4; ++i)
        any.words[i] = words[i];
    any.words[4] = words[beyond > 0 ? 4 : 3];
#else
    std::memcpy(reinterpret_cast<std::byte*>(any.words) + beyond, at, 16);
#endif
    return any;
}

// ---- one kernel after another ----
//
// A kernel that is launched early (driver.h) may begin while the one before it in the queue ends. Each of its threads
// calls wait_for_previous(), and only after that reads or writes what another kernel writes or reads.

/// Lets the next kernel in the queue begin, if it was launched early, once all thread blocks have called this.
__device__ inline void let_next_begin()
{
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;");
#endif
}

/// Waits until all kernels before this one have ended, so that what they wrote can be read.
__device__ inline void wait_for_previous()
{
#ifndef __CUDACC__
    ++host::waits;
#elif __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

// ---- thread blocks of one launch ----

/// Adds one to a counter and returns what it was. A thread that finds it higher can read what this thread had written,
/// or had been able to read, before.
__device__ inline unsigned count_up(unsigned* counter)
{
#ifdef __CUDACC__
    __threadfence();
    const unsigned before = atomicAdd(counter, 1u);
    __threadfence();
    return before;
#else
    return host::count_up(counter);
#endif
}

/// Reads what other thread blocks of the launch have written, past the multiprocessor's own cache, which may hold older
/// values.
__device__ inline float4 read_of_others(const float4* at)
{
#ifdef __CUDACC__
    return __ldcg(at);
#else
    return *at;
#endif
}
__device__ inline float read_of_others(const float* at)
{
#ifdef __CUDACC__
    return __ldcg(at);
#else
    return *at;
#endif
}

/// Prefetches memory that is read soon into the second-level cache.
__device__ inline void ask_for([[maybe_unused]] const void* at)
{
#ifdef __CUDACC__
    asm volatile("prefetch.global.L2 [%0];" ::"l"(__cvta_generic_to_global(at)));
#endif
}
/// Prefetches many bytes at once. A unit of the hardware does it that keeps no other access waiting; devices before 9.0
/// have none, and do nothing. Address and size are multiples of 16.
__device__ inline void ask_for([[maybe_unused]] const std::byte* at, [[maybe_unused]] unsigned bytes)
{
#ifndef __CUDACC__
    host::ask_for(at, bytes);
#elif __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "r"(bytes));
#endif
}

// ---- together with the host ----

/// Writes a value; whoever sees it can read what this thread, and those before it in the queue, have written.
__device__ inline void store_for_host(int* at, int value)
{
#ifdef __CUDACC__
    __threadfence_system();
    asm volatile("st.release.sys.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
#else
    host::store_release(at, value);
#endif
}

/// Reads a value; what the host wrote before it wrote this value can be read then.
__device__ inline int load_from_host(const int* at)
{
#ifdef __CUDACC__
    int value;
    asm volatile("ld.acquire.sys.s32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
#else
    return host::load_acquire(at);
#endif
}
__device__ inline std::uint64_t load_from_host(const std::uint64_t* at)
{
#ifdef __CUDACC__
    std::uint64_t value;
    asm volatile("ld.acquire.sys.u64 %0, [%1];" : "=l"(value) : "l"(at) : "memory");
    return value;
#else
    return host::load_acquire(at);
#endif
}

/// Reads a clock that all of the device shares.
__device__ inline std::uint64_t now_ns()
{
#ifdef __CUDACC__
    std::uint64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
#else
    return host::now_ns();
#endif
}

/// Pauses for a moment, so that others can use the memory and the link to the host.
__device__ inline void rest_a_little()
{
#ifdef __CUDACC__
    __nanosleep(100);
#else
    host::yield();
#endif
}

/// Returns the first lane's value. For a value that is the same in all lanes of a warp, this tells the compiler so:
/// branches on it do not separate lanes.
__device__ inline int of_first_lane(int value)
{
    return __shfl_sync(kWholeWarp, value, 0);
}

/// Returns the same value, but hides from the compiler what it is. What depends on it is computed anew, and takes no
/// registers until then.
__device__ inline int computed_anew(int value)
{
#ifdef __CUDACC__
    asm volatile("" : "+r"(value));
#endif
    return value;
}

// ---- tensor cores ----
//
// A warp multiplies a 16 x k matrix A with a k x 8 matrix B and adds the result to C. With group = lane / 4 and
// place = lane % 4, a lane holds of C: c[0], c[1] = row `group`, columns 2 * place and the next; c[2], c[3] = row
// group + 8.

/// Multiplies signed bytes, k = 16; the sums begin with `start`. a0: row `group`, k = 4 * place and the next three; a1:
/// row group + 8; b: the same k of column `group`.
__device__ inline void multiply_bytes(int (&c)[4], const int (&start)[4], std::uint32_t a0, std::uint32_t a1,
                                      std::uint32_t b)
{
#ifndef __CUDACC__
    const std::uint32_t mine[] = {a0, a1, b};
    const host::Exchange<std::uint32_t, 3> all(mine);
    const int place = lane() % 4;
    for (int i = 0; i < 4; ++i) {
        c[i] = start[i];
        for (int k = 0; k < 4; ++k)
            c[i] = dot4(all.of(lane() / 4 * 4 + k)[i / 2], all.of((2 * place + i % 2) * 4 + k)[2], c[i]);
    }
#elif __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%7, %8, %9, %10};"
                 : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
                 : "r"(a0), "r"(a1), "r"(b), "r"(start[0]), "r"(start[1]), "r"(start[2]), "r"(start[3]));
#else
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
                 : "=r"(c[0]), "=r"(c[1])
                 : "r"(a0), "r"(b), "r"(start[0]), "r"(start[1]));
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%4, %5};"
                 : "=r"(c[2]), "=r"(c[3])
                 : "r"(a1), "r"(b), "r"(start[2]), "r"(start[3]));
#endif
}

/// Multiplies signed bytes, k = 32: a[0], a[1], b0 as above, a[2], a[3], b1 for the k that are 16 higher.
__device__ inline void multiply_bytes(int (&c)[4], const int (&start)[4], const std::uint32_t (&a)[4], std::uint32_t b0,
                                      std::uint32_t b1)
{
#ifndef __CUDACC__
    const std::uint32_t mine[] = {a[0], a[1], a[2], a[3], b0, b1};
    const host::Exchange<std::uint32_t, 6> all(mine);
    const int place = lane() % 4;
    for (int i = 0; i < 4; ++i) {
        c[i] = start[i];
        for (int k = 0; k < 8; ++k)
            c[i] = dot4(all.of(lane() / 4 * 4 + k % 4)[i / 2 + k / 4 * 2],
                        all.of((2 * place + i % 2) * 4 + k % 4)[4 + k / 4], c[i]);
    }
#elif __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%10, %11, %12, %13};"
                 : "=r"(c[0]), "=r"(c[1]), "=r"(c[2]), "=r"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1), "r"(start[0]), "r"(start[1]),
                   "r"(start[2]), "r"(start[3]));
#else
    for (int row = 0; row < 2; ++row)
        asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%6, %7};\n\t"
                     "mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%4}, {%5}, {%0, %1};"
                     : "=&r"(c[2 * row]), "=&r"(c[2 * row + 1])
                     : "r"(a[row]), "r"(b0), "r"(a[2 + row]), "r"(b1), "r"(start[2 * row]), "r"(start[2 * row + 1]));
#endif
}

/// The sum of kIntegerBits and an integer up to 2^22 in magnitude, read as the bits of a float, is kIntegerOne plus
/// that integer. So what tensor cores add up needs no conversion.
constexpr int kIntegerBits = 0x4b400000;
constexpr float kIntegerOne = 12582912.0f;  // 1.5 * 2^23
__device__ inline float float_of_bits(int bits)
{
    return __uint_as_float(std::uint32_t(bits)) - kIntegerOne;
}
/// Reads four kIntegerBits from shared memory, for multiply_bytes to start with. If the compiler knew their values, it
/// would set them anew before each product, which overwrites them.
__device__ inline void read_unknown(int (&to)[4], const int* from)
{
#ifdef __CUDACC__
    asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
                 : "r"(std::uint32_t(__cvta_generic_to_shared(from))));
#else
    for (int i = 0; i < 4; ++i)
        to[i] = from[i];
#endif
}

/// Returns scale times the integer, rounded once, in one instruction. no_integer: scale times -kIntegerOne, which has
/// to be exact: the scale has 22 significant bits at most, and is below 2^104. Only an exponent of MXFP4 can be larger,
/// for weights that no model has; the result is infinite then.
__device__ inline float scaled_float_of_bits(int bits, float scale, float no_integer)
{
    return __fmaf_rn(scale, __uint_as_float(std::uint32_t(bits)), no_integer);
}

/// Multiplies halves, two in a word, k = 16. a[0]: row `group`, k = 2 * place and the next; a[1]: row group + 8; a[2],
/// a[3]: the same for the k that are 8 higher. b[0], b[1]: those k of column `group`.
__device__ inline void multiply_halves(float (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2])
{
#ifndef __CUDACC__
    float mine[12];  // of each word the low half, then the high one
    for (int i = 0; i < 12; ++i)
        mine[i] = half_to_float(std::uint16_t((i < 8 ? a[i / 2] : b[i / 2 - 4]) >> 16 * (i % 2)));
    const host::Exchange<float, 12> all(mine);
    const int place = lane() % 4;
    for (int k = 0; k < 16; ++k) {
        const int at = k % 8 / 2;
        const float* rows = all.of(lane() / 4 * 4 + at) + 4 * (k / 8) + k % 2;
        const float* column = all.of(2 * place * 4 + at) + 8 + 2 * (k / 8) + k % 2;
        const float* next_column = all.of((2 * place + 1) * 4 + at) + 8 + 2 * (k / 8) + k % 2;
        c[0] += rows[0] * *column;
        c[1] += rows[0] * *next_column;
        c[2] += rows[2] * *column;
        c[3] += rows[2] * *next_column;
    }
#elif __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
                 "{%0, %1, %2, %3};"
                 : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    for (int half = 0; half < 2; ++half)
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
#endif
}

/// Loads four matrices of 8 rows of 16 bytes from shared memory. Lane l gives the address of row l % 8 of matrix l / 8,
/// a multiple of 16 bytes, and gets of each matrix the four bytes at 4 * place of row `group`.
__device__ inline void load_matrices(std::uint32_t (&words)[4], const void* row)
{
#ifdef __CUDACC__
    const auto address = std::uint32_t(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
#else
    host::must_be_aligned(row, 16, host::Where::here());
    const void* mine[] = {row};
    const host::Exchange<const void*, 1> all(mine);
    for (int i = 0; i < 4; ++i)
        words[i] = static_cast<const std::uint32_t*>(all.of(8 * i + lane() / 4)[0])[lane() % 4];
#endif
}

/// Loads columns of a 16 x 16 matrix of halves from shared memory, as multiply_halves takes them in b for its left
/// (b[0]) and right half (b[1]): lane l gives the address of row l % 16, from column 8 * (l / 16) on, a multiple of 16
/// bytes.
__device__ inline void load_columns(std::uint32_t (&b)[2][2], const std::uint16_t* row)
{
#ifdef __CUDACC__
    const auto address = std::uint32_t(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(b[0][0]), "=r"(b[0][1]), "=r"(b[1][0]), "=r"(b[1][1])
                 : "r"(address)
                 : "memory");
#else
    host::must_be_aligned(row, 16, host::Where::here());
    const std::uint16_t* mine[] = {row};
    const host::Exchange<const std::uint16_t*, 1> all(mine);
    for (int i = 0; i < 4; ++i) {
        const int first = 8 * i + lane() % 4 * 2;
        b[i / 2][i % 2] = std::uint32_t(all.of(first)[0][lane() / 4]) | std::uint32_t(all.of(first + 1)[0][lane() / 4])
                                                                            << 16;
    }
#endif
}

// ---- copies to shared memory that are not waited for ----
//
// Such copies are gathered in groups, which arrive in the order in which they were committed. Hardware that cannot do
// this copies at once.

/// Copies 4, 8 or 16 bytes, aligned to as many; without `any` it writes zeros instead.
template <int bytes>
__device__ inline void copy_async(void* to, const void* from, bool any)
{
#ifndef __CUDACC__
    static const uint4 kZeros = make_uint4(0, 0, 0, 0);
    host::copy_async(to, any ? from : &kZeros, bytes);
#elif __CUDA_ARCH__ >= 800
    const auto address = std::uint32_t(__cvta_generic_to_shared(to));
    const auto global = __cvta_generic_to_global(from);
    if constexpr (bytes == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(global), "r"(any ? 16 : 0)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(global), "n"(bytes),
                     "r"(any ? bytes : 0)
                     : "memory");
#else
    std::uint32_t words[4] = {0, 0, 0, 0};
    const auto global = __cvta_generic_to_global(from);
    if (any && bytes == 16)
        asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                     : "l"(global)
                     : "memory");
    else if (any && bytes == 8)
        asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(words[0]), "=r"(words[1]) : "l"(global) : "memory");
    else if (any)
        asm volatile("ld.global.u32 %0, [%1];" : "=r"(words[0]) : "l"(global) : "memory");
    if constexpr (bytes == 16)
        *static_cast<uint4*>(to) = make_uint4(words[0], words[1], words[2], words[3]);
    else if constexpr (bytes == 8)
        *static_cast<uint2*>(to) = make_uint2(words[0], words[1]);
    else
        *static_cast<std::uint32_t*>(to) = words[0];
#endif
}

/// Does the same if `wanted`, without a branch; else it touches nothing. bytes: 4 or 16
template <int bytes>
__device__ inline void copy_async_if(bool wanted, void* to, const void* from, bool any)
{
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
    static_assert(bytes == 4 || bytes == 16);
    const auto address = std::uint32_t(__cvta_generic_to_shared(to));
    const auto global = __cvta_generic_to_global(from);
    if constexpr (bytes == 16)
        asm volatile("{\n\t.reg .pred wanted;\n\tsetp.ne.u32 wanted, %3, 0;\n\t"
                     "@wanted cp.async.cg.shared.global [%0], [%1], 16, %2;\n\t}" ::"r"(address),
                     "l"(global), "r"(any ? 16 : 0), "r"(unsigned(wanted))
                     : "memory");
    else
        asm volatile("{\n\t.reg .pred wanted;\n\tsetp.ne.u32 wanted, %3, 0;\n\t"
                     "@wanted cp.async.ca.shared.global [%0], [%1], 4, %2;\n\t}" ::"r"(address),
                     "l"(global), "r"(any ? 4 : 0), "r"(unsigned(wanted))
                     : "memory");
#else
    if (wanted)
        copy_async<bytes>(to, from, any);
#endif
}

/// An address in shared memory in the form that copies take: made once, and kept.
#ifdef __CUDACC__
using SharedPlace = std::uint32_t;
__device__ inline SharedPlace shared_place(void* at)
{
    auto place = std::uint32_t(__cvta_generic_to_shared(at));
    asm("" : "+r"(place));  // or the compiler makes it anew for each copy
    return place;
}
#else
using SharedPlace = std::byte*;
inline SharedPlace shared_place(void* at)
{
    return static_cast<std::byte*>(at);
}
#endif

/// Copies sixteen bytes, `offset` further on on both sides, at a multiple of 16. The first `inside` of them, at least
/// one, belong to a tensor: the emulator copies no others. A device's memory is given in whole multiples of 16 bytes,
/// so that it has the others, too.
template <int offset>
__device__ inline void copy_chunk(SharedPlace to, const std::byte* from, int inside)
{
#ifndef __CUDACC__
    host::must_be_aligned(from + offset, 16, host::Where::here());
    for (int piece = 16, done = 0; done < std::min(inside, 16); done += piece) {
        while (done + piece > inside)
            piece /= 2;
        host::copy_async(to + offset + done, from + offset + done, std::size_t(piece));
    }
#elif __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0 + %2], [%1 + %2], 16;" ::"r"(to), "l"(__cvta_generic_to_global(from)),
                 "n"(offset)
                 : "memory");
#else
    std::uint32_t words[4];
    asm volatile("ld.global.nc.v4.u32 {%0, %1, %2, %3}, [%4 + %5];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "l"(__cvta_generic_to_global(from)), "n"(offset));
    asm volatile("st.shared.v4.u32 [%0 + %5], {%1, %2, %3, %4};" ::"r"(to), "r"(words[0]), "r"(words[1]), "r"(words[2]),
                 "r"(words[3]), "n"(offset)
                 : "memory");
#endif
}

/// Makes a group of what was copied since the last one.
__device__ inline void commit_copies()
{
#ifndef __CUDACC__
    host::commit_copies();
#elif __CUDA_ARCH__ >= 800
    asm volatile("cp.async.commit_group;" ::: "memory");
#endif
}

/// Waits for this thread's groups except the last `still_under_way`.
template <int still_under_way>
__device__ inline void wait_for_copies()
{
#ifndef __CUDACC__
    host::wait_for_copies(still_under_way);
#elif __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_group %0;" ::"n"(still_under_way) : "memory");
#endif
}

__device__ inline std::uint32_t two_halves(float low, float high)
{
#ifndef __CUDACC__
    return std::uint32_t(float_to_half(low)) | std::uint32_t(float_to_half(high)) << 16;
#elif __CUDA_ARCH__ >= 800
    std::uint32_t both;  // CUDA's own functions for it compile to several instructions more
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(high), "f"(low));
    return both;
#else
    return std::uint32_t(__half_as_ushort(__float2half_rn(low))) |
           std::uint32_t(__half_as_ushort(__float2half_rn(high))) << 16;
#endif
}

}  // namespace kernels::cuda
