// Gated activations of a feed-forward layer: a thread a value. gate_up: (rows, 2 n), the gates first; out: (rows, n),
// which may be the gates' own place.
#include "kernels/cuda/gates.cuh"

using namespace kernels::cuda;

extern "C" __global__ void gated(const float* gate_up, int stride, Gating gating, int n, float* out, int out_stride)
{
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    const float* row = gate_up + std::size_t(blockIdx.y) * std::size_t(stride);
    out[std::size_t(blockIdx.y) * std::size_t(out_stride) + std::size_t(i)] = gate_times(gating, row[i], row[n + i]);
}
EMULATED(gated);
