// Declares what the kernel that chooses experts and its launcher agree on.
#pragma once

namespace kernels::cuda {

/// SoftmaxOfChosen: over the logits of those that were chosen by their logits.
enum class ExpertScores { SoftmaxOfChosen, Softmax, Sigmoid };

constexpr int kMostExpertGroups = 256;

struct ChooseArguments {
    const float* logits;  // (rows, experts), row r at r * stride
    int stride;
    int experts;
    int used;
    ExpertScores scores;
    int sum_to_one;
    float least_sum;
    float scale;
    const float* bias;  // (experts,) or null
    int groups;         // of equally many experts; those of groups_used groups compete. 0: all experts compete
    int groups_used;
    int* chosen;     // (rows, used)
    float* weights;  // (rows, used)
};

}  // namespace kernels::cuda
