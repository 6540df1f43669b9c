// RMSNorm and LayerNorm: one thread block per row, or one warp per head; a pass for each sum and one for the result,
// over values that stay in the cache.
#include "kernels/cuda/device.h"
#include "kernels/cuda/reduce.cuh"

using namespace kernels::cuda;

// x, out: (rows, dim), row r at r * x_stride and r * out_stride; weight: (dim,). out may be x.
extern "C" __global__ void rms_norm(const float* x, int x_stride, const float* weight, float eps, int dim, float* out,
                                    int out_stride)
{
    x += std::size_t(blockIdx.x) * std::size_t(x_stride);
    out += std::size_t(blockIdx.x) * std::size_t(out_stride);

    float squares = 0.0f;
    for (int i = int(threadIdx.x); i < dim; i += int(blockDim.x))
        squares += x[i] * x[i];
    const float scale = rsqrtf(block_sum(squares) / float(dim) + eps);

    for (int i = int(threadIdx.x); i < dim; i += int(blockDim.x))
        out[i] = x[i] * scale * weight[i];
}
EMULATED(rms_norm);

// The same with the mean taken off first.
extern "C" __global__ void layer_norm(const float* x, int x_stride, const float* weight, float eps, int dim, float* out,
                                      int out_stride)
{
    x += std::size_t(blockIdx.x) * std::size_t(x_stride);
    out += std::size_t(blockIdx.x) * std::size_t(out_stride);

    float sum = 0.0f;
    for (int i = int(threadIdx.x); i < dim; i += int(blockDim.x))
        sum += x[i];
    const float mean = block_sum(sum) / float(dim);
    float squares = 0.0f;
    for (int i = int(threadIdx.x); i < dim; i += int(blockDim.x))
        squares += (x[i] - mean) * (x[i] - mean);
    const float scale = rsqrtf(block_sum(squares) / float(dim) + eps);

    for (int i = int(threadIdx.x); i < dim; i += int(blockDim.x))
        out[i] = (x[i] - mean) * scale * weight[i];
}
EMULATED(layer_norm);

// x: (rows, heads), row r at r * x_stride, head h at h * head_stride; out: (rows, heads, length); weight: (length,). A
// warp a head.
extern "C" __global__ void norm_heads(const float* x, int x_stride, int heads, int length, int head_stride,
                                      const float* weight, float eps, float* out, int out_stride)
{
    const int head = int(blockIdx.x) * int(blockDim.x) / kWarp + warp();
    if (head >= heads)
        return;  // the whole warp
    x += std::size_t(blockIdx.y) * std::size_t(x_stride) + std::size_t(head) * std::size_t(head_stride);
    out += std::size_t(blockIdx.y) * std::size_t(out_stride) + std::size_t(head) * std::size_t(length);

    float squares = 0.0f;
    for (int i = lane(); i < length; i += kWarp)
        squares += x[i] * x[i];
    const float scale = rsqrtf(warp_sum(squares) / float(length) + eps);

    for (int i = lane(); i < length; i += kWarp)
        out[i] = x[i] * scale * weight[i];
}
EMULATED(norm_heads);
