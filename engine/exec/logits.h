// RowLogits holds the logits of one row, from which a token is drawn.
#pragma once

#include <span>

namespace engine {

struct RankedLogit {
    int id = 0;
    float logit = 0.0f;
};

/// The logits of one row: all, or as many of the largest as were asked for, where they were found on a device and the
/// others stayed there. Valid until the next step.
struct RowLogits {
    std::span<const float> all;            // (vocabulary,) or empty
    std::span<const RankedLogit> largest;  // best first, among equals the lower id first
    float log_sum = 0.0f;  // of all exponentials, beside `largest`: a token's share is exp(logit - log_sum)
};

}  // namespace engine
