// Prepares rotary position embedding: the frequencies of a model, and cos and sin for the positions of a batch.
#pragma once

#include "engine/model/hyperparameters.h"

#include <span>
#include <vector>

namespace engine {

/// Frequencies of the rotated pairs and the factor on cos and sin, for one class of layers.
struct RopeFrequencies {
    std::vector<double> radians_per_token;  // (rope_dimensions / 2,)
    double magnitude = 1.0;
};

/// Computes frequencies. `factors` (n / 2,) divide them (llama 3's rope_freqs, long-rope factors); empty: none.
RopeFrequencies rope_frequencies(const Hyperparameters& h, LayerKind kind, std::span<const float> factors);

/// Writes cos, sin: (positions, n / 2) for positions first, first + 1, ...
void rope_table(const RopeFrequencies& f, int first, int count, float* cos, float* sin);

}  // namespace engine
