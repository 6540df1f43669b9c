// Sums, factors, soft caps, weights and copies of rows: a thread for each value, a row of thread blocks for each row.
#include "kernels/cuda/gates.cuh"

using namespace kernels::cuda;

// x[r] += y[r]. x, y: (rows, n) at their strides
extern "C" __global__ void add(const float* y, int y_stride, float* x, int x_stride, int n)
{
    let_next_begin();
    wait_for_previous();
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        x[std::size_t(blockIdx.y) * std::size_t(x_stride) + std::size_t(i)] +=
            y[std::size_t(blockIdx.y) * std::size_t(y_stride) + std::size_t(i)];
}
EMULATED(add);

// x[r] = cap * tanh(x[r] / cap)
extern "C" __global__ void soft_cap(float cap, float* x, int x_stride, int n)
{
    let_next_begin();
    wait_for_previous();
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    float& v = x[std::size_t(blockIdx.y) * std::size_t(x_stride) + std::size_t(i)];
    v = cap * tanhf(v / cap);
}
EMULATED(soft_cap);

// x[r] *= factor
extern "C" __global__ void scale(float factor, float* x, int x_stride, int n)
{
    let_next_begin();
    wait_for_previous();
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        x[std::size_t(blockIdx.y) * std::size_t(x_stride) + std::size_t(i)] *= factor;
}
EMULATED(scale);

// x[r] times the sigmoid of weights[r]
extern "C" __global__ void weigh_rows(const float* weights, int weights_stride, float* x, int x_stride, int n)
{
    let_next_begin();
    wait_for_previous();
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    x[std::size_t(blockIdx.y) * std::size_t(x_stride) + std::size_t(i)] *=
        sigmoid(weights[std::size_t(blockIdx.y) * std::size_t(weights_stride)]);
}
EMULATED(weigh_rows);

// out = x: (rows, heads), head h at h * x_head or h * out_head
extern "C" __global__ void copy_heads(const float* x, int x_stride, int heads, int length, int x_head, float* out,
                                      int out_stride, int out_head)
{
    let_next_begin();
    wait_for_previous();
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= heads * length)
        return;
    const std::size_t from = std::size_t(blockIdx.y) * std::size_t(x_stride);
    const std::size_t to = std::size_t(blockIdx.y) * std::size_t(out_stride);
    out[to + std::size_t(i / length * out_head + i % length)] = x[from + std::size_t(i / length * x_head + i % length)];
}
EMULATED(copy_heads);
