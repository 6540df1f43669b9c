// Reads the weights of latent attention.
#pragma once

#include "engine/model/weights.h"

#include <string>

namespace engine {

class WeightReader;

/// Reads all weights up to the product that goes back to the stream. `p`: prefix of the names of the layer's tensors.
void read_latent_attention(WeightReader& in, const std::string& p, const Hyperparameters& h,
                           const LayerParameters& layer, LayerWeights& w);

}  // namespace engine
