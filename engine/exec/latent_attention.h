// Computes what latent attention does before and after the attention itself: the heads' queries, and their values.
#pragma once

#include "engine/exec/backend.h"

namespace engine {

/// qkv = each head's query in the form of the rows that are kept, and x's own row to keep (arXiv 2405.04434, with its
/// matrices absorbed): all heads attend these rows as they lie. `rotation`: the layer's.
void make_latent_queries(const Hyperparameters& h, const LayerWeights& w, const HeadLayout& heads,
                         const Rotation& rotation, Rows& x, Backend& on, Activations& a);

/// attended = each head's values, made of its sum of the kept rows, which is in latent_heads.
void make_values_of_latent(const LatentShape& s, const LayerWeights& w, const HeadLayout& heads, Backend& on,
                           Activations& a);

}  // namespace engine
