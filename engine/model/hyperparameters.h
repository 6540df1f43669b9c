// Hyperparameters holds the numbers of a model, read from its metadata and checked: what the decoder needs besides the
// weights.
#pragma once

#include "engine/model/architecture.h"
#include "engine/result.h"

#include <string>
#include <vector>

namespace engine {

class GgufFile;

struct RopeScaling {
    enum class Kind { None, Linear, Yarn, LongRope };
    Kind kind = Kind::None;
    float factor = 1.0f;       // context in use / original context
    int original_context = 0;  // tokens; 0: the model's own
    float attn_factor = 1.0f;  // on cos and sin, besides YaRN's own
    float yarn_beta_fast = 32.0f;
    float yarn_beta_slow = 1.0f;
    float yarn_log_multiplier = 0.0f;  // 0: YaRN's own 0.1 ln(factor) + 1
};

struct LayerParameters {
    LayerKind kind = LayerKind::FullAttention;
    int heads = 0;
    int kv_heads = 0;
    int ffn_length = 0;
    int key_length = 0;  // head dimension of keys and queries
    int value_length = 0;
    int rope_dimensions = 0;  // of a head that turn; the same in all layers of a kind
    int kv_source = -1;       // the layer whose keys and values it reads; -1: it has its own
};

struct Hyperparameters {
    const Architecture* architecture = nullptr;
    int context_length = 0;  // tokens the model was made for
    int embedding_length = 0;
    int vocabulary = 0;
    float rms_epsilon = 0.0f;
    float attention_scale = 0.0f;
    float attention_softcap = 0.0f;  // 0: none
    float final_softcap = 0.0f;      // 0: none
    int sliding_window = 0;          // tokens a sliding layer sees, the newest included; 0: none
    float temperature_scale = 0.0f;  // queries times 1 + this * ln(1 + floor(position / original context)); 0: none
    float rope_base = 10000.0f;
    float rope_base_local = 10000.0f;  // of sliding layers
    RopeScaling rope_scaling;
    int experts = 0;
    int experts_used = 0;
    int expert_ffn_length = 0;
    float expert_weights_scale = 1.0f;
    int side_length = 0;  // values of its own that each layer gets of each token (per-layer embeddings); 0: none
    std::vector<LayerParameters> layers;

    int longest_key() const;  // of any layer
    int longest_value() const;
    int rope_dimensions(LayerKind kind) const;  // 0: there is no such layer
};

/// Fails with one sentence for an architecture this version does not run, and for numbers that make no sense.
Result<Hyperparameters> read_hyperparameters(const GgufFile& file);

}  // namespace engine
