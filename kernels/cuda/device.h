// What kernels are written in: the one header that .cu files include. Under nvcc it brings in CUDA's own; compiled as
// C++ for the host it gives the same names a meaning there, so that every kernel also runs in the tests, on the
// emulator of tests/support/cuda. Inline PTX stands in this file only, each piece in a wrapper with a host twin.
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
    extern __shared__ std::byte bytes[];
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

/// To nearest, ties to even.
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

/// c + the products of four signed bytes.
__device__ inline int dot4(std::uint32_t a, std::uint32_t b, int c)
{
#ifdef __CUDACC__
    return __dp4a(int(a), int(b), c);
#else
    return host::dot4(a, b, c);
#endif
}

}  // namespace kernels::cuda
