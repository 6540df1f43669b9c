// Linear attention with a state that decays, one row after another: a block takes 32 columns of a head's state, each
// of its warps 32 keys of them, which stay in registers. A lane has a column; the warps' sums for a column are joined
// in shared memory, once a row. Bytes of the state are read and written once, as whole lines.
#include "kernels/cuda/gates.cuh"
#include "kernels/cuda/recurrent.h"

using namespace kernels::cuda;

namespace {

constexpr int kRowsAtOnce = 8;  // that are loaded while those before them are computed
constexpr int kKeys = kWarp;    // of a warp
constexpr int kWarps = kMostStateKeys / kKeys;

// ln(1 + e^x); from 20 on that is x, to the last bit.
__device__ float softplus(float x)
{
    return x > 20.0f ? x : log1pf(expf(x));
}

/// Holds what the block's threads share.
struct Shared {
    __align__(16) float k[kRowsAtOnce][kMostStateKeys];
    __align__(16) float q[kRowsAtOnce][kMostStateKeys];
    float decay[kRowsAtOnce], beta[kRowsAtOnce];
    float seen[2][kWarps][kWarp];  // of M^T k; of this row and the one before
    float sums[2][kWarps][kWarp];  // of M^T q
};

/// Holds what a thread loads of the next rows: one key's values, its column's values, and one row's gates.
struct Coming {
    float k[kRowsAtOnce], q[kRowsAtOnce], v[kRowsAtOnce];
    float gate, step;

    __device__ void load(const LinearAttentionArguments& a, int head, int key_head, int column, int first)
    {
        const int key = int(threadIdx.x);
        const std::size_t at = std::size_t(key_head) * std::size_t(a.keys) + std::size_t(key);
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i) {
            const bool there = first + i < a.rows;
            const std::size_t row = std::size_t(first + i) * std::size_t(a.stride);
            k[i] = there && key < a.keys ? a.k[row + at] : 0.0f;
            q[i] = there && key < a.keys ? a.q[row + at] : 0.0f;
            v[i] = there && column < a.values
                       ? a.v[row + std::size_t(head) * std::size_t(a.values) + std::size_t(column)]
                       : 0.0f;
        }
        gate = step = 0.0f;
        if (key < kRowsAtOnce && first + key < a.rows) {
            const std::size_t row = std::size_t(first + key) * std::size_t(a.stride) + std::size_t(head);
            gate = a.gates == StateGates::DeltaRule ? a.gate[row] : 0.0f;
            step = a.step[row];
        }
    }
    __device__ void share(const LinearAttentionArguments& a, int head, Shared& s) const
    {
        const int key = int(threadIdx.x);
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i) {
            s.k[i][key] = k[i];
            s.q[i][key] = q[i];
        }
        if (key < kRowsAtOnce) {
            const float stepped = softplus(step + a.dt_bias[head]);
            s.beta[key] = a.gates == StateGates::DeltaRule ? sigmoid(gate) : stepped;
            s.decay[key] = expf(a.a[head] * stepped);
        }
    }
};

/// Adds the warps' sums, in the order of the warps.
__device__ float sum_of(const float (*parts)[kWarp])
{
    float sum = 0.0f;
    for (int w = 0; w < int(blockDim.x) / kWarp; ++w)
        sum += parts[w][lane()];
    return sum;
}

/// Returns the product of this warp's keys of the state with those of x, four sums at a time.
__device__ float product(const float (&m)[kKeys], const float* x)
{
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
#pragma unroll
    for (int key = 0; key < kKeys; key += 4) {
        const float4 four = *reinterpret_cast<const float4*>(x + key);
        sum.x += m[key] * four.x;
        sum.y += m[key + 1] * four.y;
        sum.z += m[key + 2] * four.z;
        sum.w += m[key + 3] * four.w;
    }
    return (sum.x + sum.y) + (sum.z + sum.w);
}

__device__ void move_on(float (&m)[kKeys], const float* k, float decay, float d)
{
#pragma unroll
    for (int key = 0; key < kKeys; key += 4) {
        const float4 four = *reinterpret_cast<const float4*>(k + key);
        m[key] = decay * m[key] + four.x * d;
        m[key + 1] = decay * m[key + 1] + four.y * d;
        m[key + 2] = decay * m[key + 2] + four.z * d;
        m[key + 3] = decay * m[key + 3] + four.w * d;
    }
}

}  // namespace

extern "C" __global__ void __launch_bounds__(kMostStateKeys) linear_attention(LinearAttentionArguments a)
{
    __shared__ Shared s;
    const int head = int(blockIdx.y), column = int(blockIdx.x) * kWarp + lane();
    const int key_head = a.keys_in_runs ? head / (a.heads / a.key_heads) : head % a.key_heads;
    const int first_key = warp() * kKeys;
    float* const state = a.state + std::size_t(head) * std::size_t(a.keys) * std::size_t(a.values);
    const auto at = [&](int key) { return std::size_t(first_key + key) * std::size_t(a.values) + std::size_t(column); };
    const bool mine = column < a.values;

    float m[kKeys];
#pragma unroll
    for (int key = 0; key < kKeys; ++key)
        m[key] = mine && first_key + key < a.keys ? state[at(key)] : 0.0f;
    const auto write_out = [&](int row) {
        const float sum = sum_of(s.sums[row % 2]);
        if (mine)
            a.out[std::size_t(row) * std::size_t(a.out_stride) + std::size_t(head) * std::size_t(a.values) +
                  std::size_t(column)] = sum;
    };

    Coming coming;
    coming.load(a, head, key_head, column, 0);
    for (int first = 0; first < a.rows; first += kRowsAtOnce) {
        __syncthreads();  // the rows before have been read
        coming.share(a, head, s);
        float v[kRowsAtOnce];
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i)
            v[i] = coming.v[i];
        __syncthreads();
        coming.load(a, head, key_head, column, first + kRowsAtOnce);
#pragma unroll
        for (int i = 0; i < kRowsAtOnce; ++i) {
            const int row = first + i;
            if (row >= a.rows)
                break;
            const float* k = s.k[i] + first_key;
            const float decay = s.decay[i];
            float d = v[i];
            if (a.gates == StateGates::DeltaRule)
                s.seen[row % 2][warp()][lane()] = product(m, k);
            __syncthreads();  // also for the sums of the row before
            if (row > 0 && warp() == row % (int(blockDim.x) / kWarp))
                write_out(row - 1);
            if (a.gates == StateGates::DeltaRule)
                d -= decay * sum_of(s.seen[row % 2]);
            d *= s.beta[i];
            move_on(m, k, decay, d);
            s.sums[row % 2][warp()][lane()] = product(m, s.q[i] + first_key);
        }
    }
    __syncthreads();
    if (warp() == 0)
        write_out(a.rows - 1);
#pragma unroll
    for (int key = 0; key < kKeys; ++key)
        if (mine && first_key + key < a.keys)
            state[at(key)] = m[key];
}
EMULATED(linear_attention);
