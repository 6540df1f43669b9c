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
#else
#include "kernels/cuda/device_on_host.h"
#endif

namespace kernels::cuda {

constexpr unsigned kWholeWarp = 0xffffffffu;
constexpr int kWarp = 32;

__device__ inline int lane()
{
    return int(threadIdx.x) % kWarp;
}

__device__ inline int warp()
{
    return int(threadIdx.x) / kWarp;
}

/// The shared memory whose size the launch gives.
__device__ inline std::byte* dynamic_shared()
{
#ifdef __CUDACC__
    extern __shared__ __align__(16) std::byte bytes[];
    return bytes;
#else
    return host::dynamic_shared();
#endif
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

/// Rounds to nearest, ties to even.
__device__ inline std::uint16_t float_to_half(float x)
{
#ifdef __CUDACC__
    return __half_as_ushort(__float2half_rn(x));
#else
    return kernels::float_to_half(x);
#endif
}

__device__ inline float bf16_to_float(std::uint16_t bits)
{
    return __uint_as_float(std::uint32_t(bits) << 16);
}

/// Four signed bytes, the lowest first.
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

/// c + the products of four signed bytes.
__device__ inline int dot4(std::uint32_t a, std::uint32_t b, int c)
{
#ifdef __CUDACC__
    return __dp4a(int(a), int(b), c);
#else
    return host::dot4(a, b, c);
#endif
}

// ---- together with the host ----

/// What this thread, and those before it in the queue, have written can be read by who sees the value.
__device__ inline void store_for_host(int* at, int value)
{
#ifdef __CUDACC__
    __threadfence_system();
    asm volatile("st.release.sys.s32 [%0], %1;" ::"l"(at), "r"(value) : "memory");
#else
    host::store_release(at, value);
#endif
}

/// What the host wrote before it wrote this value can be read.
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

/// Leaves the memory and the link to others for a moment.
__device__ inline void rest_a_little()
{
#ifdef __CUDACC__
    __nanosleep(100);
#else
    host::yield();
#endif
}

// ---- tensor cores ----
//
// A warp multiplies a 16 x k matrix A with a k x 8 matrix B and adds the result to C. With group = lane / 4 and
// place = lane % 4, a lane holds of C: c[0], c[1] = row `group`, columns 2 * place and the next; c[2], c[3] = row
// group + 8.

/// Signed bytes, k = 16. a[0]: row `group`, k = 4 * place and the next three; a[1]: row group + 8; b: the same k of
/// column `group`.
__device__ inline void multiply_bytes(int (&c)[4], std::uint32_t a0, std::uint32_t a1, std::uint32_t b)
{
#ifndef __CUDACC__
    const std::uint32_t mine[] = {a0, a1, b};
    const host::Exchange<std::uint32_t, 3> all(mine);
    const int place = lane() % 4;
    for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 4; ++k)
            c[i] = dot4(all.of(lane() / 4 * 4 + k)[i / 2], all.of((2 * place + i % 2) * 4 + k)[2], c[i]);
#elif __CUDA_ARCH__ >= 800
    asm volatile("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
                 : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
                 : "r"(a0), "r"(a1), "r"(b));
#else
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(c[0]), "+r"(c[1])
                 : "r"(a0), "r"(b));
    asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0, %1}, {%2}, {%3}, {%0, %1};"
                 : "+r"(c[2]), "+r"(c[3])
                 : "r"(a1), "r"(b));
#endif
}

/// Signed bytes, k = 32: a[0], a[1], b[0] as above, a[2], a[3], b[1] for the k that are 16 higher.
__device__ inline void multiply_bytes(int (&c)[4], const std::uint32_t (&a)[4], const std::uint32_t (&b)[2])
{
#if defined(__CUDACC__) && __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
        "%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#else
    multiply_bytes(c, a[0], a[1], b[0]);
    multiply_bytes(c, a[2], a[3], b[1]);
#endif
}

/// Halves, two in a word, k = 16. a[0]: row `group`, k = 2 * place and the next; a[1]: row group + 8; a[2], a[3]: the
/// same for the k that are 8 higher. b[0], b[1]: those k of column `group`.
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

/// Columns of a 16 x 8 matrix of halves in shared memory, as multiply_halves takes them in b: lane l < 16 gives the
/// address of row l, eight halves at a multiple of 16 bytes; b[0]: rows 2 * place and the next of column `group`, b[1]:
/// the rows 8 further on.
__device__ inline void load_columns(std::uint32_t (&b)[2], const std::uint16_t* row)
{
#ifdef __CUDACC__
    const auto address = std::uint32_t(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
                 : "=r"(b[0]), "=r"(b[1])
                 : "r"(address)
                 : "memory");
#else
    const std::uint16_t* mine[] = {row};
    const host::Exchange<const std::uint16_t*, 1> all(mine);
    for (int i = 0; i < 2; ++i) {
        const int first = 8 * i + lane() % 4 * 2;
        b[i] = std::uint32_t(all.of(first)[0][lane() / 4]) | std::uint32_t(all.of(first + 1)[0][lane() / 4]) << 16;
    }
#endif
}

__device__ inline std::uint32_t two_halves(float low, float high)
{
    return std::uint32_t(float_to_half(low)) | std::uint32_t(float_to_half(high)) << 16;
}

}  // namespace kernels::cuda
