// RMSNorm and LayerNorm: one thread block per row, or one warp per head. There is a pass for each sum and one for the
// result; between them RMSNorm keeps values in registers, as far as there are enough.
#include "kernels/cuda/q8_rows.cuh"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/rms_norm.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kKept = 4;  // quads of a thread that stay in registers

/// Returns four values of a row of n; zeros beyond its end. `aligned`: rows begin at multiples of 16 bytes, and n is a
/// multiple of 4.
__device__ inline float4 load_quad(const float* row, int quad, int n, bool aligned)
{
    if (4 * quad >= n)
        return make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    if (aligned)
        return reinterpret_cast<const float4*>(row)[quad];
    const auto value = [&](int i) { return 4 * quad + i < n ? row[4 * quad + i] : 0.0f; };
    return make_float4(value(0), value(1), value(2), value(3));
}

__device__ inline void store_quad(float* row, int quad, int n, bool aligned, const float4& v)
{
    if (4 * quad >= n)
        return;
    if (aligned) {
        reinterpret_cast<float4*>(row)[quad] = v;
        return;
    }
    const float values[4] = {v.x, v.y, v.z, v.w};
    for (int i = 0; i < 4 && 4 * quad + i < n; ++i)
        row[4 * quad + i] = values[i];
}

}  // namespace

// x, out: (rows, dim), row r at r * x_stride and r * out_stride; weight: (dim,). out may be x. Where the result is
// rounded too, dim is a multiple of 32.
extern "C" __global__ void __launch_bounds__(kNormThreads)
    rms_norm(const float* x, int x_stride, const float* weight, float eps, int dim, float* out, int out_stride,
             const RoundedRows rounded)
{
    x += std::size_t(blockIdx.x) * std::size_t(x_stride);
    out += std::size_t(blockIdx.x) * std::size_t(out_stride);
    const bool aligned = dim % 4 == 0 && is_aligned(x) && is_aligned(weight) && is_aligned(out);
    const int threads = int(blockDim.x);

    let_next_begin();
    float4 kept[kKept];
    float4 weights[kKept];
#pragma unroll
    for (int i = 0; i < kKept; ++i)
        weights[i] = load_quad(weight, int(threadIdx.x) + i * threads, dim, aligned);
    wait_for_previous();
#pragma unroll
    for (int i = 0; i < kKept; ++i)
        kept[i] = load_quad(x, int(threadIdx.x) + i * threads, dim, aligned);
    float squares = 0.0f;
#pragma unroll
    for (int i = 0; i < kKept; ++i)
        squares = __fadd_rn(squares, squares_of(kept[i]));
    for (int quad = int(threadIdx.x) + kKept * threads; 4 * quad < dim; quad += threads)
        squares = __fadd_rn(squares, squares_of(load_quad(x, quad, dim, aligned)));
    const float scale = rsqrtf(block_sum(squares) / float(dim) + eps);

    const auto put = [&](int quad, const float4& v) {
        store_quad(out, quad, dim, aligned, v);
        put_rounded(v, quad, 4 * quad < dim, dim, rounded, int(blockIdx.x));
    };
#pragma unroll
    for (int i = 0; i < kKept; ++i)
        if (4 * i * threads < dim)  // the same for all threads
            put(int(threadIdx.x) + i * threads, weighed(kept[i], scale, weights[i]));
    for (int first = kKept * threads; 4 * first < dim; first += threads) {
        const int quad = first + int(threadIdx.x);
        put(quad, weighed(load_quad(x, quad, dim, aligned), scale, load_quad(weight, quad, dim, aligned)));
    }
}
EMULATED(rms_norm);

// The same with the mean taken off first, and not rounded.
extern "C" __global__ void layer_norm(const float* x, int x_stride, const float* weight, float eps, int dim, float* out,
                                      int out_stride)
{
    let_next_begin();
    wait_for_previous();
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
// warp takes a head.
extern "C" __global__ void norm_heads(const float* x, int x_stride, int heads, int length, int head_stride,
                                      const float* weight, float eps, float* out, int out_stride)
{
    let_next_begin();
    wait_for_previous();
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

// The same in place, with each head's mean taken off first and weights of its own: (heads, length).
extern "C" __global__ void layer_norm_heads(float* x, int x_stride, int heads, int length, int head_stride,
                                            const float* weights, float eps)
{
    let_next_begin();
    wait_for_previous();
    const int head = int(blockIdx.x) * int(blockDim.x) / kWarp + warp();
    if (head >= heads)
        return;  // the whole warp
    x += std::size_t(blockIdx.y) * std::size_t(x_stride) + std::size_t(head) * std::size_t(head_stride);
    weights += std::size_t(head) * std::size_t(length);

    float sum = 0.0f;
    for (int i = lane(); i < length; i += kWarp)
        sum += x[i];
    const float mean = warp_sum(sum) / float(length);
    float squares = 0.0f;
    for (int i = lane(); i < length; i += kWarp)
        squares += (x[i] - mean) * (x[i] - mean);
    const float scale = rsqrtf(warp_sum(squares) / float(length) + eps);

    for (int i = lane(); i < length; i += kWarp)
        x[i] = (x[i] - mean) * scale * weights[i];
}
EMULATED(layer_norm_heads);
