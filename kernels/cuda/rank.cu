// The largest logits of a row, best first: thread blocks sort runs of them and keep the first of each, and what was
// kept is sorted again until one run is left. Beside it, the logarithm of the sum of all exponentials.
//
// A logit and its index are one number while they are sorted: of two, the better one is the larger number.
#include "kernels/cuda/device.h"
#include "kernels/cuda/rank.h"
#include "kernels/cuda/reduce.cuh"

using namespace kernels::cuda;

namespace {

/// Returns x in a form that can be sorted: NaN is the smallest value, infinities are the outermost finite ones, and
/// zero has one sign.
__device__ inline float finite(float x)
{
    constexpr float kMax = 3.402823466e38f;
    if (!(x > -kMax))
        return -kMax;
    return x == 0.0f ? 0.0f : fminf(x, kMax);
}

// Returns the number that a logit is sorted by. It is more than 0, which stands for no logit.
__device__ inline std::uint64_t number_of(float logit, int index)
{
    const unsigned bits = __float_as_uint(logit);
    const unsigned ordered = bits >> 31 ? ~bits : bits | 0x80000000u;
    return std::uint64_t(ordered) << 32 | (0xffffffffu - unsigned(index));
}

__device__ inline float logit_of(std::uint64_t number)
{
    const auto ordered = unsigned(number >> 32);
    return __uint_as_float(ordered >> 31 ? ordered & 0x7fffffffu : ~ordered);
}

__device__ inline int index_of(std::uint64_t number)
{
    return int(0xffffffffu - unsigned(number));
}

/// Sorts a run by a bitonic network, the largest first.
__device__ void sort_run(std::uint64_t* numbers)
{
    for (int size = 2; size <= kRankRun; size *= 2)
        for (int apart = size / 2; apart > 0; apart /= 2) {
            __syncthreads();
            for (int pair = int(threadIdx.x); pair < kRankRun / 2; pair += kRankThreads) {
                const int i = pair / apart * 2 * apart + pair % apart;
                const int j = i + apart;
                const bool falling = (i & size) == 0;
                const std::uint64_t a = numbers[i];
                const std::uint64_t b = numbers[j];
                if ((a < b) == falling) {
                    numbers[i] = b;
                    numbers[j] = a;
                }
            }
        }
    __syncthreads();
}

__device__ void keep_first(const std::uint64_t* numbers, int kept, std::uint64_t* out)
{
    for (int i = int(threadIdx.x); i < kept; i += kRankThreads)
        out[std::size_t(blockIdx.x) * std::size_t(kept) + std::size_t(i)] = numbers[i];
}

}  // namespace

// logits: (n,)   out: (runs, kept), of which short runs leave some 0   sums: (runs,) largest, sum of exp(x - largest)
// grid: runs = ceil(n / kRankRun)
extern "C" __global__ void __launch_bounds__(kRankThreads)
    rank_logits(const float* logits, int n, int kept, std::uint64_t* out, float2* sums)
{
    let_next_begin();
    wait_for_previous();
    __shared__ std::uint64_t numbers[kRankRun];
    const int first = int(blockIdx.x) * kRankRun;
    float largest = -3.402823466e38f;
    for (int i = int(threadIdx.x); i < kRankRun; i += kRankThreads) {
        const float x = first + i < n ? finite(logits[first + i]) : 0.0f;
        numbers[i] = first + i < n ? number_of(x, first + i) : 0;
        largest = first + i < n ? fmaxf(largest, x) : largest;
    }
    largest = block_max(largest);
    float sum = 0.0f;
    for (int i = int(threadIdx.x); i < kRankRun && first + i < n; i += kRankThreads)
        sum += expf(logit_of(numbers[i]) - largest);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = make_float2(largest, sum);
    sort_run(numbers);
    keep_first(numbers, kept, out);
}
EMULATED(rank_logits);

// The same for what was kept. numbers: (n,)   out: (runs, kept)
extern "C" __global__ void __launch_bounds__(kRankThreads)
    rank_kept(const std::uint64_t* numbers, int n, int kept, std::uint64_t* out)
{
    let_next_begin();
    wait_for_previous();
    __shared__ std::uint64_t run[kRankRun];
    const int first = int(blockIdx.x) * kRankRun;
    for (int i = int(threadIdx.x); i < kRankRun; i += kRankThreads)
        run[i] = first + i < n ? numbers[first + i] : 0;
    sort_run(run);
    keep_first(run, kept, out);
}
EMULATED(rank_kept);

// numbers: (kept,)   sums: (runs,)   logits, indices: (kept,)   log_sum: one
extern "C" __global__ void rank_result(const std::uint64_t* numbers, int kept, const float2* sums, int runs,
                                       float* logits, int* indices, float* log_sum)
{
    let_next_begin();
    wait_for_previous();
    for (int i = int(threadIdx.x); i < kept; i += int(blockDim.x)) {
        logits[i] = logit_of(numbers[i]);
        indices[i] = index_of(numbers[i]);
    }
    const float largest = logit_of(numbers[0]);
    float sum = 0.0f;
    for (int i = int(threadIdx.x); i < runs; i += int(blockDim.x))
        sum += sums[i].y * expf(sums[i].x - largest);
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        *log_sum = largest + logf(sum);
}
EMULATED(rank_result);
