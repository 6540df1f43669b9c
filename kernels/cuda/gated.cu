// Gated activations of a feed-forward layer: a thread for each value. gates, up, out: (rows, n) at their strides; out
// may be the gates' own place.
#include "kernels/cuda/gates.cuh"
#include "kernels/cuda/q8_rows.cuh"
#include "kernels/cuda/reduce.cuh"

using namespace kernels::cuda;

extern "C" __global__ void gated(const float* gates, int gates_stride, const float* up, int up_stride, Gating gating,
                                 int n, float* out, int out_stride)
{
    let_next_begin();
    wait_for_previous();
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    const float gate = gates[std::size_t(blockIdx.y) * std::size_t(gates_stride) + std::size_t(i)];
    const float value = up[std::size_t(blockIdx.y) * std::size_t(up_stride) + std::size_t(i)];
    out[std::size_t(blockIdx.y) * std::size_t(out_stride) + std::size_t(i)] = gate_times(gating, gate, value);
}
EMULATED(gated);

// Writes the same values rounded to 8 bits, and not the values themselves. Each thread makes four of them. n is a
// multiple of 32; rows of gates and up begin at multiples of 16 bytes.
extern "C" __global__ void gated_q8(const float* gates, int gates_stride, const float* up, int up_stride, Gating gating,
                                    int n, const RoundedRows to)
{
    let_next_begin();
    wait_for_previous();
    const int quad = int(blockIdx.y * blockDim.x + threadIdx.x);
    const int row = int(blockIdx.x);
    const bool live = quad < n / 4;
    float4 v = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (live) {
        const auto quad_of = [&](const float* rows, int stride) {
            return reinterpret_cast<const float4*>(rows + std::size_t(row) * std::size_t(stride))[quad];
        };
        const float4 g = quad_of(gates, gates_stride);
        const float4 u = quad_of(up, up_stride);
        v = make_float4(gate_times(gating, g.x, u.x), gate_times(gating, g.y, u.y), gate_times(gating, g.z, u.z),
                        gate_times(gating, g.w, u.w));
    }
    put_rounded(v, quad, live, n, to, row);
}
EMULATED(gated_q8);

// x: (rows, heads, length) times the sigmoid of gates: (rows, heads), head h at h * head_stride.
extern "C" __global__ void gate_heads(const float* gates, int gates_stride, int heads, int length, int head_stride,
                                      float* x, int x_stride)
{
    let_next_begin();
    wait_for_previous();
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= heads * length)
        return;
    gates += std::size_t(blockIdx.y) * std::size_t(gates_stride);
    x += std::size_t(blockIdx.y) * std::size_t(x_stride);
    x[i] *= sigmoid(gates[i / length * head_stride + i % length]);
}
EMULATED(gate_heads);

// Replaces the first n columns of x by max(x - bound, 0), where bound is their mean plus this many standard deviations.
// A thread block takes a row.
extern "C" __global__ void keep_above(float deviations, int n, float* x, int x_stride)
{
    x += std::size_t(blockIdx.x) * std::size_t(x_stride);
    float sum = 0.0f;
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
        sum += x[i];
    const float mean = block_sum(sum) / float(n);
    float squares = 0.0f;
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
        squares += (x[i] - mean) * (x[i] - mean);
    const float least = mean + deviations * sqrtf(block_sum(squares) / float(n > 1 ? n - 1 : 1));
    for (int i = int(threadIdx.x); i < n; i += int(blockDim.x))
        x[i] = fmaxf(x[i] - least, 0.0f);
}
EMULATED(keep_above);
