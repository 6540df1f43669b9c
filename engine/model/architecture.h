// Architecture lists what distinguishes the architectures this version runs, as data. One decoder reads it; nothing
// else branches on names.
#pragma once

#include <span>
#include <string_view>

namespace engine {

/// How a layer sees the past. Recurrent layers will be another kind.
enum class LayerKind { FullAttention, SlidingWindow };

enum class Gate { Silu, Gelu, SwigluOai };

struct Architecture {
    std::string_view name;  // general.architecture
    bool rope_neox = true;  // pairs (i, i + n/2); false: (2i, 2i + 1)
    Gate gate = Gate::Silu;
    bool scale_embeddings = false;           // token embeddings times sqrt(embedding_length)
    int window_period = 0;                   // of every `period` layers all but the last slide; 0: none does
    float local_rope_base = 0.0f;            // rope base of sliding layers; 0: the same as the others
    std::string_view ffn_norm = "ffn_norm";  // tensor name of the norm before the feed-forward part
    std::string_view attn_post_norm = {};    // norm of the attention's output, before it is added
    std::string_view ffn_post_norm = {};     // norm of the feed-forward's output, before it is added
    float attention_scale = 0.0f;            // factor on scores; 0: 1 / sqrt(head dimension)
    bool norm_values = false;           // values are normed, too, without weights; without attn_v they are the keys
    bool dense_beside_experts = false;  // layers with experts have a dense part as well, each with its own norms
};

/// Null for an architecture this version cannot run.
const Architecture* find_architecture(std::string_view name);
std::span<const Architecture> all_architectures();

}  // namespace engine
