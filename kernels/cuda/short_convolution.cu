// Short causal convolutions of recurrent layers: a thread takes a channel through the rows, with the last inputs in
// registers; what comes next is on its way while some rows are computed.
#include "kernels/cuda/gates.cuh"
#include "kernels/cuda/recurrent.h"
#include "kernels/cuda/reduce.cuh"

using namespace kernels::cuda;

namespace {

constexpr int kRowsAtOnce = 8;

/// Computes one channel. Where there are fewer than kMostTaps taps, the oldest ones here are zeros.
struct Channel {
    float taps[kMostTaps];
    float past[kMostTaps - 1];  // inputs, the oldest first
    float bias;

    __device__ Channel(const ConvolutionArguments& c, int channel)
        : bias(c.bias ? c.bias[channel] : 0.0f)
    {
        const int lacking = kMostTaps - c.width;
#pragma unroll
        for (int j = 0; j < kMostTaps; ++j)
            taps[j] = j < lacking ? 0.0f : c.taps[(j - lacking) * c.channels + channel];
#pragma unroll
        for (int j = 0; j < kMostTaps - 1; ++j)
            past[j] = j < lacking ? 0.0f : c.history[(j - lacking) * c.channels + channel];
    }
    __device__ float next(float x)
    {
        float y = bias;
#pragma unroll
        for (int j = 0; j < kMostTaps - 1; ++j) {
            y += taps[j] * past[j];
            past[j] = j + 1 < kMostTaps - 1 ? past[j + 1] : x;
        }
        return y + taps[kMostTaps - 1] * x;
    }
    __device__ void keep(const ConvolutionArguments& c, int channel) const
    {
        const int lacking = kMostTaps - c.width;
#pragma unroll
        for (int j = 0; j < kMostTaps - 1; ++j)
            if (j >= lacking)
                c.history[(j - lacking) * c.channels + channel] = past[j];
    }
};

/// Loads rows first, first + 1, ... of one column; zeros beyond the last row.
__device__ void load_rows(const float* column, int stride, int first, int rows, float (&x)[kRowsAtOnce])
{
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i)
        x[i] = first + i < rows ? column[std::size_t(first + i) * std::size_t(stride)] : 0.0f;
}

/// Norms each row's head; each thread has one value of it. sums: (kRowsAtOnce, kWarp), other ones than in the last call
__device__ void norm_rows(const NormedHeads& heads, float factor, float (*sums)[kWarp], float (&y)[kRowsAtOnce])
{
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
        const float sum = warp_sum(y[i] * y[i]);
        if (lane() == 0)
            sums[i][warp()] = sum;
    }
    __syncthreads();
    const int warps = int(blockDim.x) / kWarp;
#pragma unroll
    for (int i = 0; i < kRowsAtOnce; ++i) {
        float squares = 0.0f;
        for (int w = 0; w < warps; ++w)
            squares += sums[i][w];
        y[i] *= factor * rsqrtf(squares + heads.epsilon);
    }
}

}  // namespace

// x: (rows, channels) at its stride, in place: silu of the convolution. A block takes one of the heads that are to be
// normed, or as many other channels as it has threads.
extern "C" __global__ void convolve_silu(ConvolutionArguments c, NormedHeads heads, float* x, int stride)
{
    __shared__ float sums[2][kRowsAtOnce][kWarp];
    const int block = int(blockIdx.x), threads = int(blockDim.x);
    const bool normed = block < heads.heads;
    const int begin = normed ? block * heads.length : heads.heads * heads.length + (block - heads.heads) * threads;
    const int end = min(c.channels, begin + (normed ? heads.length : threads));
    const bool mine = begin + int(threadIdx.x) < end;
    const int channel = mine ? begin + int(threadIdx.x) : begin;  // threads without one compute the first, in vain
    const float factor = block < heads.heads / 2 ? rsqrtf(float(heads.length)) : 1.0f;

    Channel on(c, channel);
    float coming[kRowsAtOnce];
    load_rows(x + channel, stride, 0, c.rows, coming);
    for (int first = 0; first < c.rows; first += kRowsAtOnce) {
        float y[kRowsAtOnce];
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i)
            y[i] = coming[i];
        load_rows(x + channel, stride, first + kRowsAtOnce, c.rows, coming);
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i)
            if (first + i < c.rows) {
                y[i] = on.next(y[i]);
                y[i] = mine ? silu_times(y[i], 1.0f) : 0.0f;
            }
        if (normed)
            norm_rows(heads, factor, sums[first / kRowsAtOnce % 2], y);
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i)
            if (mine && first + i < c.rows)
                x[std::size_t(first + i) * std::size_t(stride) + std::size_t(channel)] = y[i];
    }
    if (mine)
        on.keep(c, channel);
}
EMULATED(convolve_silu);

// mixed: (rows, [b (channels,) | c | u]) at its stride; out: (rows, channels) = c * convolution of b * u
extern "C" __global__ void gated_convolution(ConvolutionArguments c, const float* mixed, int stride, float* out,
                                             int out_stride)
{
    const int channel = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (channel >= c.channels)
        return;
    Channel on(c, channel);
    const float* b = mixed + channel;
    for (int first = 0; first < c.rows; first += kRowsAtOnce) {
        float before[kRowsAtOnce], after[kRowsAtOnce], x[kRowsAtOnce];
        load_rows(b, stride, first, c.rows, before);
        load_rows(b + c.channels, stride, first, c.rows, after);
        load_rows(b + 2 * c.channels, stride, first, c.rows, x);
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i)
            if (first + i < c.rows)
                out[std::size_t(first + i) * std::size_t(out_stride) + std::size_t(channel)] =
                    after[i] * on.next(__fmul_rn(before[i], x[i]));
    }
    on.keep(c, channel);
}
EMULATED(gated_convolution);
