// Computes what follows linear attention: a norm and a gate, in the order of the gated delta net or in that of Mamba-2.
#include "kernels/cuda/gates.cuh"
#include "kernels/cuda/recurrent.h"
#include "kernels/cuda/reduce.cuh"

using namespace kernels::cuda;

// y = rms_weight(y) * gate(z), each head by itself, in place. y, z: (rows, heads, length) at their strides; weight:
// (length,). A warp takes a head.
extern "C" __global__ void norm_and_gate(float* y, int y_stride, const float* z, int z_stride, int heads, int length,
                                         const float* weight, float eps, int sigmoid_gate)
{
    const int head = int(blockIdx.x) * int(blockDim.x) / kWarp + warp();
    if (head >= heads)
        return;  // the whole warp
    const std::size_t col = std::size_t(head) * std::size_t(length);
    y += std::size_t(blockIdx.y) * std::size_t(y_stride) + col;
    z += std::size_t(blockIdx.y) * std::size_t(z_stride) + col;

    float squares = 0.0f;
    for (int i = lane(); i < length; i += kWarp)
        squares += y[i] * y[i];
    const float scale = rsqrtf(warp_sum(squares) / float(length) + eps);

    for (int i = lane(); i < length; i += kWarp) {
        const float normed = y[i] * scale * weight[i];
        y[i] = sigmoid_gate ? sigmoid(z[i]) * normed : silu_times(z[i], normed);
    }
}
EMULATED(norm_and_gate);

// y = rms_weight((y + d x) * silu(z)), each group of heads by itself, in place. A thread block takes a group of a row.
extern "C" __global__ void gate_and_norm(GateAndNormArguments a)
{
    const int length = a.heads / a.groups * a.length, first = int(blockIdx.x) * length;
    float* y = a.y + std::size_t(blockIdx.y) * std::size_t(a.y_stride);
    const float* x = a.x + std::size_t(blockIdx.y) * std::size_t(a.stride);
    const float* z = a.z + std::size_t(blockIdx.y) * std::size_t(a.stride);

    float squares = 0.0f;
    for (int i = first + int(threadIdx.x); i < first + length; i += int(blockDim.x)) {
        const float gated = silu_times(z[i], y[i] + a.d[i / a.length] * x[i]);
        y[i] = gated;
        squares += gated * gated;
    }
    if (!a.weight)
        return;  // the whole block
    const float scale = rsqrtf(block_sum(squares) / float(length) + a.epsilon);
    for (int i = first + int(threadIdx.x); i < first + length; i += int(blockDim.x))
        y[i] = y[i] * scale * a.weight[i];
}
EMULATED(gate_and_norm);
