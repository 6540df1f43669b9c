// Activations to 8 bits, a warp for each 32 values that share a scale: the bytes that the CPU writes (kernels/cpu.h,
// Q8Row), so that products over them agree.
#include "kernels/cpu/q8_layout.h"
#include "kernels/cuda/device.h"
#include "kernels/cuda/reduce.cuh"

using namespace kernels::cuda;

// The warp's 32 values, one a lane, become a group of a row of n. Returns what the lane's value has lost.
__device__ static float put_group(float value, int group, int n, std::byte* out)
{
    constexpr float kSmallestScaled = 1e-36f;  // 127 / this is still finite; smaller values become zero
    const float largest = warp_max(fabsf(value));
    const bool zero = !(largest > kSmallestScaled);
    const float scale = zero ? 0.0f : __fdiv_rn(largest, 127.0f);
    const float inverse = zero ? 0.0f : __fdiv_rn(127.0f, largest);
    const int q = __float2int_rn(__fmul_rn(value, inverse));

    int sum = q;
    for (int flip = 8; flip > 0; flip /= 2)
        sum += __shfl_xor_sync(kWholeWarp, sum, flip);
    const int sum_of_all = sum + __shfl_xor_sync(kWholeWarp, sum, 16);

    const kernels::Q8Layout at(n);
    const auto put = [&](std::size_t part, int index, auto v) {
        reinterpret_cast<decltype(v)*>(out + part)[index] = v;
    };
    put(0, 32 * group + lane(), std::int8_t(q));
    if (lane() % 16 == 0) {
        put(at.sum16, 2 * group + lane() / 16, scale * float(sum));
        put(at.shift16, 2 * group + lane() / 16, -128 * sum);
    }
    if (lane() == 0) {
        put(at.scale, group, scale);
        put(at.sum32, group, scale * float(sum_of_all));
        put(at.shift32, group, -128 * sum_of_all);
    }
    return value - float(q) * scale;
}

// x: (rows, n) at x_stride; out: (rows, out_stride bytes); residual: the same of what rounding lost, or null; n is a
// multiple of 32
extern "C" __global__ void quantize_q8(const float* x, int x_stride, int n, std::byte* out, std::byte* residual,
                                       std::size_t out_stride)
{
    const int group = int(blockIdx.x) * int(blockDim.x) / kWarp + warp();
    if (group >= n / 32)
        return;  // the whole warp
    const float value = x[std::size_t(blockIdx.y) * std::size_t(x_stride) + std::size_t(32 * group + lane())];
    const std::size_t row = std::size_t(blockIdx.y) * out_stride;
    const float lost = put_group(value, group, n, out + row);
    if (residual)
        put_group(lost, group, n, residual + row);
}
EMULATED(quantize_q8);
