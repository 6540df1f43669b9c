// Computes the normaliser of log-probabilities from a row's logits, and finds the largest logits.
#pragma once

#include <span>
#include <vector>

namespace engine {

/// Makes NaN the smallest value, and infinities the outermost finite ones: softmax then needs no special cases.
float finite_logit(float x);

/// Returns the logarithm of the sum of all exponentials: a token's log-probability is its logit less this. logits:
/// (vocabulary,)
double log_sum_of_exps(std::span<const float> logits);

/// Returns the ids of the `count` largest logits, or of all: best first, among equals the lower id first.
std::vector<int> ids_of_largest(std::span<const float> logits, int count);

}  // namespace engine
