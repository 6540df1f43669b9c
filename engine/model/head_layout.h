// HeadLayout says where the heads of a fused query-key-value row lie.
#pragma once

#include "engine/model/hyperparameters.h"

namespace engine {

struct HeadLayout {
    int heads = 0, kv_heads = 0;
    int key_length = 0, value_length = 0;
    AttentionGate gate = AttentionGate::None;
    bool values_in_keys = false;  // a value is the first part of its key
    int group() const { return heads / kv_heads; }
    int k_col() const { return heads * key_length; }
    int v_col() const { return values_in_keys ? k_col() : k_col() + kv_heads * key_length; }
    int cols() const { return gates_col() + gate_cols(); }

    /// Say in which column the product of attn_q begins, and how far it is from one of its queries to the next. Where
    /// it has gates as well, it lies behind the values, and the norm of its heads brings the queries to their place.
    int projected_q_col() const { return gate == AttentionGate::BesideQueries ? gates_col() : 0; }
    int projected_q_stride() const { return gate == AttentionGate::BesideQueries ? gate_stride() : key_length; }
    /// Say where the first head's gate is, and how far it is from one head's to the next.
    int gate_col() const { return gates_col() + (gate == AttentionGate::BesideQueries ? key_length : 0); }
    int gate_stride() const { return value_length + (gate == AttentionGate::BesideQueries ? key_length : 0); }

private:
    int gates_col() const { return v_col() + kv_heads * (values_in_keys ? key_length : value_length); }
    int gate_cols() const { return gate == AttentionGate::None ? 0 : heads * gate_stride(); }
};

inline HeadLayout head_layout(const Hyperparameters& h, const LayerParameters& layer)
{
    return {layer.heads,   layer.kv_heads, layer.key_length, layer.value_length, h.architecture->attention_gate,
            bool(h.latent)};
}

/// Returns the columns of what a layer's mixers give, before the product that goes back to the stream.
inline int mixer_cols(const Hyperparameters& h, const LayerParameters& layer)
{
    const int attended = layer.heads * (h.latent ? h.latent.value_length : layer.value_length);
    const int mixed = is_recurrent(layer.mixer) ? h.state_space.inner() : 0;
    return attended > mixed ? attended : mixed;
}

}  // namespace engine
