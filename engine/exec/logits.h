// RowLogits holds the logits of one row, from which a token is drawn.
#pragma once

#include <span>

namespace engine {

struct RankedLogit {
    int id = 0;
    float logit = 0.0f;
};

/// Holds all logits of a row, or as many of the largest as were asked for, where a device found them and the others
/// stayed there. Valid until the next step.
struct RowLogits {
    std::span<const float> all;            // (vocabulary,) or empty
    std::span<const RankedLogit> largest;  // best first, among equals the lower id first
    float log_sum = 0.0f;  // with `largest`: ln of the sum of all exp(logit); a token's share is exp(logit - log_sum)
};

}  // namespace engine
