// Architecture lists what distinguishes the architectures this version runs, as data. One decoder reads it; nothing
// else branches on names.
#pragma once

#include <span>
#include <string_view>

namespace engine {

/// How a layer's attention sees the past.
enum class LayerKind { FullAttention, SlidingWindow };

/// What mixes a layer's tokens. A recurrent mixer keeps a state of fixed size; None: the layer is a feed-forward alone.
enum class Mixer { Attention, DeltaNet, Mamba2, ShortConvolution, AttentionAndMamba2, None };

constexpr bool attends(Mixer mixer)
{
    return mixer == Mixer::Attention || mixer == Mixer::AttentionAndMamba2;
}
constexpr bool is_recurrent(Mixer mixer)
{
    return mixer != Mixer::Attention && mixer != Mixer::None;
}

/// ReluSquared: there is no gate, relu(up)^2 alone.
enum class Gate { Silu, Gelu, SwigluOai, ReluSquared };

struct Architecture {
    std::string_view name;  // general.architecture
    bool rope_neox = true;  // pairs (i, i + n/2); false: (2i, 2i + 1)
    Gate gate = Gate::Silu;
    bool scale_embeddings = false;           // token embeddings times sqrt(embedding_length)
    int window_period = 0;                   // of every `period` layers all but the last slide; 0: none does
    float local_rope_base = 0.0f;            // rope base of sliding layers; 0: the same as the others
    std::string_view ffn_norm = "ffn_norm";  // tensor name of the norm before the feed-forward part
    std::string_view output_norm = "output_norm";  // tensor name of the norm after the last layer
    std::string_view attn_post_norm = {};    // norm of the attention's output, before it is added
    std::string_view ffn_post_norm = {};     // norm of the feed-forward's output, before it is added
    Mixer recurrent = Mixer::Attention;      // of the layers that are recurrent; Attention: none is
    int full_attention_interval = 0;         // every so many-th layer attends; 0: those that have KV heads do
    bool heads_in_runs = false;              // delta net: value heads of one key head follow each other
    bool sigmoid_output_gate = false;        // delta net: its output times sigmoid(z), not silu(z)
    bool one_part_layers = false;            // a layer is a mixer or a feed-forward, with one norm
};

/// Null for an architecture this version cannot run.
const Architecture* find_architecture(std::string_view name);
std::span<const Architecture> all_architectures();

}  // namespace engine
