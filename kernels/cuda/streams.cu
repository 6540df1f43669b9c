// Residual streams side by side (AltUp, arXiv 2301.13310; hyper-connections, arXiv 2409.19606), and embeddings of
// n-grams. A thread takes a value of a row in all its streams; where a sum over a row is needed, a thread block takes a
// row.
#include "kernels/cuda/gates.cuh"
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

// Copies the first n columns. x: at x_stride; out: (rows, n) at out_stride
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

// A thread computes a value. out: (rows, dim) at out_stride
extern "C" __global__ void mean_of_streams(const StreamRows streams, float* out, int out_stride)
{
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= streams.dim)
        return;
    const float* x = streams.at + std::size_t(blockIdx.y) * std::size_t(streams.stride) + std::size_t(i);
    float sum = x[0];
    for (int s = 1; s < streams.count; ++s)
        sum += x[s * streams.dim];
    out[std::size_t(blockIdx.y) * std::size_t(out_stride) + std::size_t(i)] = sum * (1.0f / float(streams.count));
}
EMULATED(mean_of_streams);

// streams[s] += 2 sigmoid(shares[s]) * y. shares: (rows, count) at shares_stride; y: (rows, dim) at y_stride
extern "C" __global__ void inject_into_streams(const float* shares, int shares_stride, const float* y, int y_stride,
                                               const StreamRows streams)
{
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= streams.dim)
        return;
    shares += std::size_t(blockIdx.y) * std::size_t(shares_stride);
    const float value = y[std::size_t(blockIdx.y) * std::size_t(y_stride) + std::size_t(i)];
    float* x = streams.at + std::size_t(blockIdx.y) * std::size_t(streams.stride) + std::size_t(i);
    for (int s = 0; s < streams.count; ++s)
        x[s * streams.dim] += 2.0f * sigmoid(shares[s]) * value;
}
EMULATED(inject_into_streams);

// keys[s] = sigmoid(root(keys[s] . queries[s] / sqrt(dim))) * values, root(x) = sign(x) sqrt(max(|x|, 1e-6)); a block
// for each row and stream. queries: (rows, count, dim) at queries_stride; values: (rows, dim) at values_stride
extern "C" __global__ void gate_ngrams(const float* queries, int queries_stride, const float* values, int values_stride,
                                       const StreamRows keys)
{
    const std::size_t stream = std::size_t(blockIdx.x) * std::size_t(keys.dim);
    queries += std::size_t(blockIdx.y) * std::size_t(queries_stride) + stream;
    values += std::size_t(blockIdx.y) * std::size_t(values_stride);
    float* key = keys.at + std::size_t(blockIdx.y) * std::size_t(keys.stride) + stream;
    float sum = 0.0f;
    for (int i = int(threadIdx.x); i < keys.dim; i += int(blockDim.x))
        sum += key[i] * queries[i];
    const float score = block_sum(sum) / sqrtf(float(keys.dim));
    const float root = sqrtf(fmaxf(fabsf(score), 1e-6f));
    const float gate = sigmoid(score < 0.0f ? -root : root);
    for (int i = int(threadIdx.x); i < keys.dim; i += int(blockDim.x))
        key[i] = gate * values[i];
}
EMULATED(gate_ngrams);

// x = silu of the convolution: a thread takes a channel and keeps its last inputs. x: (rows, channels) at x_stride
extern "C" __global__ void convolve_ngrams(const float* taps, int width, float* history, int channels, int rows,
                                           float* x, int x_stride)
{
    const int channel = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (channel >= channels)
        return;
    float past[kMostSpreadTaps];
    float weights[kMostSpreadTaps];
    for (int j = 0; j < width; ++j)
        weights[j] = taps[std::size_t(j) * std::size_t(channels) + std::size_t(channel)];
    for (int j = 0; j < width - 1; ++j)
        past[j] = history[std::size_t(j) * std::size_t(channels) + std::size_t(channel)];
    for (int row = 0; row < rows; ++row) {
        float& here = x[std::size_t(row) * std::size_t(x_stride) + std::size_t(channel)];
        past[width - 1] = here;
        float sum = 0.0f;
        for (int j = 0; j < width; ++j)
            sum += weights[j] * past[j];
        here = sum * sigmoid(sum);
        for (int j = 0; j < width - 1; ++j)
            past[j] = past[j + 1];
    }
    for (int j = 0; j < width - 1; ++j)
        history[std::size_t(j) * std::size_t(channels) + std::size_t(channel)] = past[j];
}
EMULATED(convolve_ngrams);
