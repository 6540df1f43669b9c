// HeadLayout says where the heads of a fused query-key-value row lie.
#pragma once

#include "engine/model/hyperparameters.h"

namespace engine {

struct HeadLayout {
    int heads = 0, kv_heads = 0;
    int key_length = 0, value_length = 0;
    int group() const { return heads / kv_heads; }
    int k_col() const { return heads * key_length; }
    int v_col() const { return k_col() + kv_heads * key_length; }
    int cols() const { return v_col() + kv_heads * value_length; }
};

inline HeadLayout head_layout(const LayerParameters& layer)
{
    return {layer.heads, layer.kv_heads, layer.key_length, layer.value_length};
}

}  // namespace engine
