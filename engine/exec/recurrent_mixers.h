// Computes the mixers of recurrent layers, with the products before them.
#pragma once

#include "engine/exec/backend.h"

namespace engine {

/// attended = what the layer's recurrent mixer makes of x. `state`: the layer's, where it is computed; it moves on by
/// the rows.
void mix_recurrent(const Hyperparameters& h, Mixer mixer, const LayerWeights& w, Rows& x, float* state, Backend& on,
                   Activations& a);

}  // namespace engine
