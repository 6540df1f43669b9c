// Rounds activations to 8 bits: a thread for each four of them.
#include "kernels/cuda/q8_rows.cuh"

using namespace kernels::cuda;

// x: (rows, n) at x_stride; n is a multiple of 32
extern "C" __global__ void quantize_q8(const float* x, int x_stride, int n, const RoundedRows to)
{
    let_next_begin();
    wait_for_previous();
    const int quad = int(blockIdx.y * blockDim.x + threadIdx.x);
    const int row = int(blockIdx.x);
    const bool live = quad < n / 4;
    const auto* quads = reinterpret_cast<const float4*>(x + std::size_t(row) * std::size_t(x_stride));
    put_rounded(live ? quads[quad] : make_float4(0.0f, 0.0f, 0.0f, 0.0f), quad, live, n, to, row);
}
EMULATED(quantize_q8);
