// Computes the mixers of recurrent layers, with the products before them.
#pragma once

#include "engine/exec/backend.h"

namespace engine {

/// attended = the result of layer l's recurrent mixer for x. Each sequence's state moves on by its rows; the inputs of
/// drafted rows are kept in a.drafted.
void mix_recurrent(const Hyperparameters& h, int l, const LayerWeights& w, Rows& x, const Step& step, Backend& on,
                   Activations& a);

/// Runs the mixer of layer l once more, for the drafted rows that are accepted, from their inputs in a.drafted.
/// `state`: the layer's before them, which becomes the one after them.
void mix_again(const Hyperparameters& h, int l, const LayerWeights& w, const RowGroup& group, float* state, Backend& on,
               Activations& a);

}  // namespace engine
