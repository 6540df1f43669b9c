// Residual streams side by side (AltUp, arXiv 2301.13310): a thread a value of the row, of all its streams; where a
// length is asked for, a block a row.
#include "kernels/cuda/device.h"
#include "kernels/cuda/reduce.cuh"
#include "kernels/cuda/streams.h"

using namespace kernels::cuda;

namespace {

// made[i] = sum over s of coefficients[i][s] * routed[s], by the first threads of the block for all of them
__device__ void make_coefficients(const RoutedArguments& r, int row, int count, int streams, float* made)
{
    const float* routed = r.routed + std::size_t(row) * std::size_t(r.stride);
    for (int i = int(threadIdx.x); i < count; i += int(blockDim.x)) {
        float sum = 0.0f;
        for (int s = 0; s < streams; ++s)
            sum += r.coefficients[i * streams + s] * routed[s];
        made[i] = sum;
    }
    __syncthreads();
}

}  // namespace

// The first n columns. x: at x_stride; out: (rows, n) at out_stride
extern "C" __global__ void take_columns(const float* x, int x_stride, int n, float* out, int out_stride)
{
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        out[std::size_t(blockIdx.y) * std::size_t(out_stride) + std::size_t(i)] =
            x[std::size_t(blockIdx.y) * std::size_t(x_stride) + std::size_t(i)];
}
EMULATED(take_columns);

// streams[to] += sum over `from` of made[to][from] * streams[from]; active = the first of them
extern "C" __global__ void predict_streams(const RoutedArguments routed, const StreamRows streams, float* active,
                                           int active_stride)
{
    __shared__ float made[kMostStreams * kMostStreams];
    const int row = int(blockIdx.y), count = streams.count;
    make_coefficients(routed, row, count * count, count, made);
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= streams.dim)
        return;
    float* x = streams.at + std::size_t(row) * std::size_t(streams.stride) + std::size_t(i);
    float before[kMostStreams];
    for (int s = 0; s < count; ++s)
        before[s] = x[s * streams.dim];
    for (int to = 0; to < count; ++to) {
        float sum = before[to];
        for (int from = 0; from < count; ++from)
            sum += made[to * count + from] * before[from];
        x[to * streams.dim] = sum;
    }
    active[std::size_t(row) * std::size_t(active_stride) + std::size_t(i)] = x[0];
}
EMULATED(predict_streams);

// streams[to] += (active - streams[0]) * (1 + made[to]); first = the first of them times weight
extern "C" __global__ void correct_streams(const RoutedArguments routed, const float* active, int active_stride,
                                           const float* weight, const StreamRows streams, float* first,
                                           int first_stride)
{
    __shared__ float made[kMostStreams];
    const int row = int(blockIdx.y), count = streams.count;
    make_coefficients(routed, row, count, count, made);
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= streams.dim)
        return;
    float* x = streams.at + std::size_t(row) * std::size_t(streams.stride) + std::size_t(i);
    const float change = active[std::size_t(row) * std::size_t(active_stride) + std::size_t(i)] - x[0];
    for (int to = 0; to < count; ++to)
        x[to * streams.dim] += change * (1.0f + made[to]);
    first[std::size_t(row) * std::size_t(first_stride) + std::size_t(i)] = x[0] * weight[i];
}
EMULATED(correct_streams);

// streams[s] += y for all but the first. y: (rows, dim) at y_stride
extern "C" __global__ void add_to_streams(const float* y, int y_stride, const StreamRows streams)
{
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= streams.dim)
        return;
    const float added = y[std::size_t(blockIdx.y) * std::size_t(y_stride) + std::size_t(i)];
    float* x = streams.at + std::size_t(blockIdx.y) * std::size_t(streams.stride) + std::size_t(i);
    for (int s = 1; s < streams.count; ++s)
        x[s * streams.dim] += added;
}
EMULATED(add_to_streams);

// first = the mean of it and the other streams, each of which is brought to its length before. first: (rows, dim) at
// first_stride
extern "C" __global__ void join_streams(const StreamRows streams, float* first, int first_stride)
{
    const float* x = streams.at + std::size_t(blockIdx.x) * std::size_t(streams.stride);
    first += std::size_t(blockIdx.x) * std::size_t(first_stride);
    float factors[kMostStreams];
    for (int s = 0; s < streams.count; ++s) {
        const float* stream = s == 0 ? first : x + s * streams.dim;
        float squares = 0.0f;
        for (int i = int(threadIdx.x); i < streams.dim; i += int(blockDim.x))
            squares += stream[i] * stream[i];
        factors[s] = block_sum(squares);
    }
    for (int s = 1; s < streams.count; ++s)
        factors[s] = factors[s] > 0.0f ? sqrtf(factors[0] / factors[s]) : 1.0f;
    for (int i = int(threadIdx.x); i < streams.dim; i += int(blockDim.x)) {
        float sum = first[i];
        for (int s = 1; s < streams.count; ++s)
            sum += factors[s] * x[s * streams.dim + i];
        first[i] = sum / float(streams.count);
    }
}
EMULATED(join_streams);
