// Reads the hyperparameters of models with several residual streams.
#pragma once

#include "engine/model/hyperparameters.h"

namespace engine {

class HyperparameterReader;

/// Reads which streams there are, and which layers have embeddings of n-grams. Call it when the layers have been read.
void read_streams(HyperparameterReader& in, const GgufFile& file, Hyperparameters& h);
/// Reads beyond how many tokens layers attend to a part of them only. Call it after all that depends on the model's own
/// context.
void read_dense_context(HyperparameterReader& in, Hyperparameters& h);

}  // namespace engine
