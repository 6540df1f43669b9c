// Reads the weights of models that have several residual streams.
#pragma once

#include "engine/model/weights.h"

#include <string>

namespace engine {

class WeightReader;

/// Reads the weights of layer l. `prefix`: of the names of its tensors.
void read_layer_streams(WeightReader& in, const std::string& prefix, const Hyperparameters& h, int l, LayerWeights& w);
/// Reads what there is before the first layer and behind the last.
void read_model_streams(WeightReader& in, const Hyperparameters& h, Weights& w);

}  // namespace engine
