// Computes the mixers of recurrent layers, with the products before them.
#pragma once

#include "engine/exec/backend.h"

namespace engine {

/// attended = what the recurrent mixer of layer l makes of x. Each sequence's state moves on by its rows.
void mix_recurrent(const Hyperparameters& h, int l, const LayerWeights& w, Rows& x, const Step& step, Backend& on,
                   Activations& a);

}  // namespace engine
