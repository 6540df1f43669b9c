// Architecture lists what distinguishes the architectures this version runs, as data. One decoder reads it; nothing
// else branches on names.
#pragma once

#include <span>
#include <string_view>

namespace engine {

/// Says how a layer's attention sees the past.
enum class LayerKind { FullAttention, SlidingWindow };

/// Says what mixes a layer's tokens. A recurrent mixer keeps a state of fixed size; Matrix: nothing does, a matrix is
/// in its place; None: the layer is a feed-forward alone.
enum class Mixer { Attention, DeltaNet, Mamba2, ShortConvolution, AttentionAndMamba2, Matrix, None };

constexpr bool attends(Mixer mixer)
{
    return mixer == Mixer::Attention || mixer == Mixer::AttentionAndMamba2;
}
constexpr bool is_recurrent(Mixer mixer)
{
    return mixer != Mixer::Attention && mixer != Mixer::Matrix && mixer != Mixer::None;
}

/// ReluSquared: there is no gate, relu(up)^2 alone.
enum class Gate { Silu, Gelu, SwigluOai, ReluSquared };

constexpr bool has_gate(Gate gate)
{
    return gate != Gate::ReluSquared;
}

/// Says what rows are normed by: their root mean square; or their standard deviation, their mean taken off.
enum class NormKind { Rms, Layer };

/// Says what a sliding layer sees: this many tokens back, or back to the last multiple of this many.
enum class WindowKind { Sliding, Chunks };

/// Says which layers rotate queries and keys. WhereFinetuned: all, or none where the file says that
/// rope.scaling.finetuned is false.
enum class RopeLayers { All, AllButEveryFourth, SlidingLayers, WhereFinetuned, None };

/// Says over which values queries and keys are normed. HeadsByThemselves: each head before it is rotated, less its mean
/// and with weights of its own.
enum class QkNorm { HeadsBeforeRope, HeadsAfterRope, WholeRows, HeadsByThemselves };
enum class QkNormWeight { FromFile, One };

/// out = W (attended * sigmoid(gate)). The gate comes from a matrix of its own, or attn_q holds for each head its query
/// and its gate.
enum class AttentionGate { None, Apart, BesideQueries };

/// Says whether the feed-forward part reads what attention has added, or what attention read.
enum class Branches { InTurn, Parallel };

enum class RouterScores { Softmax, Sigmoid };
enum class ExpertWeights { AsScored, SumToOne };
/// Says whether an expert's weight is on what it gives, or on what it reads.
enum class ExpertWeighs { Output, Input };

enum class LogitScale { Multiplies, Divides };

/// Residual streams. AltUp (arXiv 2301.13310): several, of which a layer reads one and predicts the others.
/// HyperConnections (arXiv 2409.19606): several, of which a layer's parts read a mixture and add to each a share.
enum class Streams { One, AltUp, HyperConnections };

/// Multiplies queries of a token at `position` by 1 + scale * ln(1 + floor((position + offset) / length)).
struct QueryTemperature {
    float scale = 0.0f;  // 0: none
    int length = 0;      // tokens; 0: the original context
    int offset = 0;      // tokens
    bool full_layers_only = false;
};

struct Architecture {
    std::string_view name;  // general.architecture
    bool rope_neox = true;  // pairs (i, i + n/2); false: (2i, 2i + 1)
    // Pairs (i, i + n/2), too, where the file divides pairs into sections, which turn by a token's place in time, by
    // its height and by its width. A token of text has the same number for all three.
    bool neox_in_sections = false;
    Gate gate = Gate::Silu;
    bool scale_embeddings = false;  // token embeddings times sqrt(embedding_length)
    bool norm_embeddings = false;   // token embeddings divided by their root mean square
    NormKind norm = NormKind::Rms;  // of the residual stream
    int window_period = 0;          // of every `period` layers all but the last slide; 0: none does
    WindowKind window = WindowKind::Sliding;
    int default_window = 0;                    // where the file names none
    float local_rope_base = 0.0f;              // rope base of sliding layers; 0: the same as the others
    bool local_rope_unscaled = false;          // rope scaling leaves sliding layers out
    std::string_view attn_norm = "attn_norm";  // tensor name of the norm before attention; empty: none
    std::string_view ffn_norm = "ffn_norm";    // tensor name of the norm before the feed-forward part; empty: none
    std::string_view attn_post_norm = {};      // norm of the attention's output, before it is added
    std::string_view ffn_post_norm = {};       // norm of the feed-forward's output, before it is added
    float post_norm_epsilon = 0.0f;            // of these; 0: that of the other norms
    RopeLayers rope_layers = RopeLayers::All;
    QkNorm qk_norm = QkNorm::HeadsBeforeRope;
    QkNormWeight qk_norm_weight = QkNormWeight::FromFile;
    AttentionGate attention_gate = AttentionGate::None;
    Branches branches = Branches::InTurn;
    QueryTemperature temperature = {};
    RouterScores router_scores = RouterScores::Softmax;      // where the file does not say
    ExpertWeights expert_weights = ExpertWeights::SumToOne;  // where the file does not say
    ExpertWeighs expert_weighs = ExpertWeighs::Output;
    LogitScale logit_scale = LogitScale::Multiplies;
    std::string_view output_norm = "output_norm";  // tensor name of the norm after the last layer; empty: none
    Mixer recurrent = Mixer::Attention;            // of the layers that are recurrent; Attention: none is
    int full_attention_interval = 0;               // every so many-th layer attends; 0: those that have KV heads do
    bool heads_in_runs = false;                    // delta net: value heads of one key head follow each other
    bool sigmoid_output_gate = false;              // delta net: its output times sigmoid(z), not silu(z)
    bool one_part_layers = false;                  // a layer is a mixer or a feed-forward, with one norm
    bool parts_may_lack = false;   // a layer without heads is a feed-forward alone, one without KV heads has a matrix
    float attention_scale = 0.0f;  // factor on scores; 0: 1 / sqrt(head dimension)
    bool norm_values = false;      // values are normed, too, without weights; without attn_v they are the keys
    Streams streams = Streams::One;
    int sparse_layers = 0;   // in this many layers, from the first on, only gates far above their mean count
    int layers_with_kv = 0;  // later ones read the KV of these, where the file does not say; 0: all have their own
    int side_length = 0;     // of per-layer embeddings, where the file does not say
    bool dense_beside_experts = false;  // layers with experts have a dense part as well, each with its own norms
    bool latent_attention = false;      // one row is kept of each token, of which all heads' keys and values are made
};

/// Returns null for an architecture this version cannot run.
const Architecture* find_architecture(std::string_view name);
std::span<const Architecture> all_architectures();

}  // namespace engine
