// Mixture of experts: which experts a row goes to, its pairs in the order of their experts, and the sum of what the
// experts made of it. A pair is a row with one of its experts.
#include "kernels/cuda/experts.h"
#include "kernels/cuda/gates.cuh"
#include "kernels/cuda/reduce.cuh"

#include <limits>

using namespace kernels::cuda;

namespace {

constexpr int kNoExpert = std::numeric_limits<int>::max();

struct Best {
    float logit;
    int expert;
};

// Says whether a comes before b: the larger one does, among equals the lower index.
__device__ bool before(const Best& a, const Best& b)
{
    return a.logit > b.logit || (a.logit == b.logit && a.expert < b.expert);
}

// What a row's experts are worth. logits: (experts,)
class Scores
{
public:
    // groups: (groups,) whether each one's experts compete
    __device__ Scores(const ChooseArguments& a, const float* logits, const bool* groups)
        : a_(a)
        , logits_(logits)
        , groups_(groups)
    {
        if (a.scores != ExpertScores::Softmax)
            return;
        largest_ = -INFINITY;
        for (int e = lane(); e < a.experts; e += kWarp)
            largest_ = fmaxf(largest_, logits[e]);
        largest_ = warp_max(largest_);
        for (int e = lane(); e < a.experts; e += kWarp)
            sum_ += expf(logits[e] - largest_);
        sum_ = warp_sum(sum_);
    }
    __device__ float score(int e) const
    {
        switch (a_.scores) {
        case ExpertScores::Softmax:
            return expf(logits_[e] - largest_) / sum_;
        case ExpertScores::Sigmoid:
            return sigmoid(logits_[e]);
        case ExpertScores::SoftmaxOfChosen:
            break;
        }
        return logits_[e];
    }
    // Returns what an expert is chosen by. Scores are in the order of their logits.
    __device__ float choice(int e) const
    {
        if (a_.groups > 0 && !groups_[e / (a_.experts / a_.groups)])
            return -INFINITY;
        return a_.bias || a_.groups > 0 ? biased(e) : logits_[e];
    }
    __device__ float biased(int e) const { return a_.bias ? score(e) + a_.bias[e] : score(e); }

private:
    const ChooseArguments& a_;
    const float* logits_;
    const bool* groups_;
    float largest_ = 0.0f, sum_ = 0.0f;
};

// Returns, in every lane, the first of the experts that come after `last`.
__device__ Best next_best(const Scores& scores, int experts, const Best& last)
{
    Best best{-std::numeric_limits<float>::infinity(), experts};
    for (int e = lane(); e < experts; e += kWarp) {
        const Best here{scores.choice(e), e};
        if (before(last, here) && before(here, best))
            best = here;
    }
    for (int flip = kWarp / 2; flip > 0; flip /= 2) {
        const Best other{__shfl_xor_sync(kWholeWarp, best.logit, flip), __shfl_xor_sync(kWholeWarp, best.expert, flip)};
        if (before(other, best))
            best = other;
    }
    return best;
}

// Returns the sum of the two best of a group; each lane does this for a group of its own.
__device__ float worth_of(const Scores& scores, int group, int size)
{
    float best = -INFINITY;
    float second = -INFINITY;
    for (int e = group * size; e < (group + 1) * size; ++e) {
        const float choice = scores.biased(e);
        second = fmaxf(second, fminf(best, choice));
        best = fmaxf(best, choice);
    }
    return size > 1 ? best + second : best;
}

// Finds the groups that compete: the groups_used that are worth most. Among equals the first is better.
__device__ void choose_groups(const ChooseArguments& a, const Scores& scores, float* worth, bool* competes)
{
    for (int g = lane(); g < a.groups; g += kWarp)
        worth[g] = worth_of(scores, g, a.experts / a.groups);
    __syncwarp();
    for (int g = lane(); g < a.groups; g += kWarp) {
        int better = 0;
        for (int other = 0; other < a.groups; ++other)
            better += before({worth[other], other}, {worth[g], g});
        competes[g] = better < a.groups_used;
    }
    __syncwarp();
}

}  // namespace

// Chooses the experts of a row by one warp. A softmax over all experts whose chosen ones are then scaled to a sum of
// one equals the softmax over the chosen ones.
extern "C" __global__ void choose_experts(const ChooseArguments a)
{
    let_next_begin();
    wait_for_previous();
    __shared__ float worth[kMostExpertGroups];
    __shared__ bool competes[kMostExpertGroups];
    const Scores scores(a, a.logits + std::size_t(blockIdx.x) * std::size_t(a.stride), competes);
    choose_groups(a, scores, worth, competes);
    int* chosen = a.chosen + std::size_t(blockIdx.x) * std::size_t(a.used);
    float* weights = a.weights + std::size_t(blockIdx.x) * std::size_t(a.used);
    const bool of_chosen = a.scores == ExpertScores::SoftmaxOfChosen;
    Best last{std::numeric_limits<float>::infinity(), -1};
    float largest = 0.0f;
    float sum = 0.0f;
    for (int slot = 0; slot < a.used; ++slot) {
        last = next_best(scores, a.experts, last);
        // Where a broken model's logits are NaN no expert is the best; one that exists is taken then.
        const int expert = last.expert < a.experts ? last.expert : slot;
        if (slot == 0)
            largest = last.logit;
        const float weight = of_chosen ? expf(last.logit - largest) : scores.score(expert);
        sum += weight;
        if (lane() == 0)
            chosen[slot] = expert;
        if (lane() == 0)
            weights[slot] = weight;
    }
    __syncwarp();
    const float divisor = of_chosen ? sum : a.sum_to_one ? fmaxf(sum, a.least_sum) : 1.0f;
    for (int slot = lane(); slot < a.used; slot += kWarp)
        weights[slot] = weights[slot] / divisor * a.scale;
}
EMULATED(choose_experts);

// A warp takes an expert. chosen: (pairs,) the expert of each pair; sorted: (pairs,) pairs by expert, and of one expert
// in rising order; begin: (experts + 1,) where each expert's pairs begin
extern "C" __global__ void sort_pairs(const int* chosen, int pairs, int* sorted, int* begin)
{
    constexpr int at_once = 4;  // reads of a lane that are waited for together
    const int expert = int(blockIdx.x);
    const auto read = [&](int base, int(&experts)[at_once]) {
        for (int i = 0; i < at_once; ++i) {
            const int pair = base + i * kWarp + lane();
            experts[i] = pair < pairs ? chosen[pair] : kNoExpert;
        }
    };
    int first = 0;
    for (int base = 0; base < pairs; base += at_once * kWarp) {
        int experts[at_once];
        read(base, experts);
        for (const int e : experts)
            first += e < expert;
    }
    for (int flip = kWarp / 2; flip > 0; flip /= 2)
        first += __shfl_xor_sync(kWholeWarp, first, flip);
    int next = first;
    for (int base = 0; base < pairs; base += at_once * kWarp) {
        int experts[at_once];
        read(base, experts);
        for (int i = 0; i < at_once; ++i) {
            const bool mine = experts[i] == expert;
            const unsigned all = __ballot_sync(kWholeWarp, mine);
            if (mine)
                sorted[next + __popc(all & ((1u << lane()) - 1))] = base + i * kWarp + lane();
            next += __popc(all);
        }
    }
    if (lane() == 0)
        begin[expert] = first;
    if (lane() == 0 && blockIdx.x == gridDim.x - 1)
        begin[expert + 1] = next;
}
EMULATED(sort_pairs);

// A thread takes a pair. scale: (experts,); chosen, weights: (pairs,)
extern "C" __global__ void scale_weights(const float* scale, const int* chosen, float* weights, int pairs)
{
    let_next_begin();
    wait_for_previous();
    const int pair = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (pair < pairs)
        weights[pair] *= scale[chosen[pair]];
}
EMULATED(scale_weights);

// A thread computes a value. y: (rows * used, n) at y_stride; weights: (rows, used), or null: all are 1; out: (rows, n)
// at out_stride. places: (experts,), where experts with 0 are left out, and the sum is added to what was there; or null
extern "C" __global__ void sum_experts(const float* y, int y_stride, const float* weights, const int* chosen,
                                       const std::uint64_t* places, int used, int n, float* out, int out_stride)
{
    let_next_begin();
    wait_for_previous();
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    const std::size_t first = std::size_t(blockIdx.y) * std::size_t(used);
    float& to = out[std::size_t(blockIdx.y) * std::size_t(out_stride) + std::size_t(i)];
    float sum = places ? to : 0.0f;
    for (std::size_t pair = first; pair < first + std::size_t(used); ++pair)
        if (!places || places[chosen[pair]] != 0)
            sum += (weights ? weights[pair] : 1.0f) * y[pair * std::size_t(y_stride) + std::size_t(i)];
    to = sum;
}
EMULATED(sum_experts);

// A thread computes a value. x: (rows, n) at x_stride; weights: (rows, used); out: (rows * used, n) at out_stride
extern "C" __global__ void weigh_pairs(const float* x, int x_stride, const float* weights, int used, int n, float* out,
                                       int out_stride)
{
    let_next_begin();
    wait_for_previous();
    const int i = int(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= n)
        return;
    const std::size_t pair = blockIdx.y;
    out[pair * std::size_t(out_stride) + std::size_t(i)] =
        weights[pair] * x[pair / std::size_t(used) * std::size_t(x_stride) + std::size_t(i)];
}
EMULATED(weigh_pairs);
