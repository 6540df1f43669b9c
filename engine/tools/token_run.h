// Computes given tokens as one conversation, step by step, and keeps the logits of each step, so that two placements of
// a model can be compared.
#pragma once

#include "engine/run/loaded_model.h"

#include <functional>
#include <span>
#include <vector>

namespace engine {

/// (steps, vocabulary)
using StepLogits = std::vector<std::vector<float>>;

struct TokenRun {
    StepLogits logits;  // after the prefill, and after every token since
    std::vector<Event> events;
    Status status;
};

/// Runs a prefill of the first `prefill` tokens, then one token at a time. Before each step `between` gets the number
/// of tokens that are done, and one part of the wanted change of placement is carried out.
TokenRun run_tokens(LoadedModel& model, std::span<const int> tokens, int prefill,
                    const std::function<void(int)>& between = {});

/// Returns |a - b| / |b| over all logits that both have.
double relative_difference(const StepLogits& a, const StepLogits& b);

}  // namespace engine
