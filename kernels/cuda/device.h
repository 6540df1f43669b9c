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

}  // namespace kernels::cuda
