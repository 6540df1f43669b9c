// Kernels that break the rules of machine_code.py, each one of them, and some that break none.
#include <cstddef>
#include <cstdint>

extern "C" __global__ void __launch_bounds__(128) matvec_without_fault(const uint4* weights, unsigned* out, int n)
{
    unsigned sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        const uint4 w = weights[i];
        sum += w.x ^ w.y ^ w.z ^ w.w;
    }
    out[threadIdx.x] = sum;
}

// The index into the array is known only as the kernel runs, so the array lies in local memory.
extern "C" __global__ void __launch_bounds__(128) matvec_local(const uint4* weights, unsigned* out, int n, int which)
{
    unsigned sums[64] = {};
    for (int i = threadIdx.x; i < n; i += 32) {
        const uint4 w = weights[i];
        sums[w.x & 63] += w.y;
        sums[w.z & 63] += w.w;
    }
    out[threadIdx.x] = sums[which & 63];
}

// All sums are needed to the end, and take a register each.
extern "C" __global__ void __launch_bounds__(128) matvec_greedy(const uint4* weights, unsigned* out, int n)
{
    unsigned sums[96] = {};
    for (int i = threadIdx.x; i < n; i += 32) {
        const uint4 w = weights[i];
#pragma unroll
        for (int s = 0; s < 96; ++s)
            sums[s] = sums[s] * w.x + (s % 3 == 0 ? w.y : s % 3 == 1 ? w.z : w.w);
    }
#pragma unroll
    for (int s = 0; s < 96; ++s)
        out[s * 32 + threadIdx.x] = sums[s];
}

extern "C" __global__ void __launch_bounds__(128)
    matvec_narrow(const std::uint8_t* weights, const std::uint16_t* scales, unsigned* out, int n)
{
    unsigned sum = 0;
    for (int i = threadIdx.x; i < n; i += 32)
        sum += weights[i] * scales[i];
    out[threadIdx.x] = sum;
}

// An address that is added up from numbers does not say which memory it is in, so its loads are generic.
struct Place {
    const std::byte* weights;
};
__device__ inline void add_up_anywhere(const Place& place, const std::size_t* offsets, unsigned* out, int n)
{
    const std::size_t at = reinterpret_cast<std::size_t>(place.weights) + offsets[blockIdx.x];
    const auto* weights = reinterpret_cast<const uint4*>(at);
    unsigned sum = 0;
    for (int i = threadIdx.x; i < n; i += 32) {
        const uint4 w = weights[i];
        sum += w.x ^ w.y ^ w.z ^ w.w;
    }
    out[threadIdx.x] = sum;
}
extern "C" __global__ void __launch_bounds__(128)
    matvec_generic(const Place place, const std::size_t* offsets, unsigned* out, int n)
{
    add_up_anywhere(place, offsets, out, n);
}
extern "C" __global__ void __launch_bounds__(128)
    attend_generic(const Place place, const std::size_t* offsets, unsigned* out, int n)
{
    add_up_anywhere(place, offsets, out, n);
}

// What a lane reads decides whether it does anything in a turn.
extern "C" __global__ void __launch_bounds__(128) attend_diverging(const int* values, int* out, int n)
{
    for (int i = threadIdx.x; i < n; i += 32)
        if (values[i] & 1)
            for (int k = 0; k < 8; ++k)
                atomicAdd(&out[values[i] >> k & 255], k + values[i]);
}
