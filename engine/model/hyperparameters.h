// Hyperparameters holds the numbers of a model, read from its metadata and checked: what the decoder needs besides the
// weights.
#pragma once

#include "engine/model/architecture.h"
#include "engine/model/state_space.h"
#include "engine/model/stream_parameters.h"
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

/// Latent attention (arXiv 2405.04434): of a token a layer keeps one row [latent (rank,) | key (rope,)], which all
/// heads share. A head's keys are products of the latent part, with the rotated key behind them; its values are
/// products of the latent part. To attend the rows as they lie, a head's query is multiplied with what makes its keys.
struct LatentShape {
    int rank = 0;          // 0: attention is not latent
    int query_rank = 0;    // of what queries are made of; 0: of the layer's input
    int plain = 0;         // of a head's queries and keys, what is not rotated; the rest is
    int key_length = 0;    // of a head, both together
    int value_length = 0;  // of a head
    explicit operator bool() const { return rank > 0; }
};

struct LayerParameters {
    Mixer mixer = Mixer::Attention;
    LayerKind kind = LayerKind::FullAttention;
    int heads = 0;
    int kv_heads = 0;
    int ffn_length = 0;        // with experts: that of the expert that all rows share
    bool rope = true;          // queries and keys are rotated
    bool feed_forward = true;  // false: the layer is a mixer alone
    int key_length = 0;        // head dimension of keys and queries
    int value_length = 0;
    int rope_dimensions = 0;  // dimensions of a head that turn; the same in all layers of a kind
    bool ngrams = false;      // embeddings of n-grams come before its mixer
    int kv_source = -1;       // the layer whose keys and values it reads; -1: it has its own

    int group() const { return kv_heads > 0 ? heads / kv_heads : 0; }  // query heads to a KV head
};

/// Says which row stands for a text in a model of embeddings: values of ARCH.pooling_type (GGUF).
enum class Pooling { None, Mean, First, Last, Rank };

struct Hyperparameters {
    const Architecture* architecture = nullptr;
    int context_length = 0;  // tokens the model was made for
    int embedding_length = 0;
    int vocabulary = 0;
    float rms_epsilon = 0.0f;
    float stream_epsilon = 0.0f;     // of norms of the residual stream
    float post_norm_epsilon = 0.0f;  // of norms of what a layer's parts add to it
    // Some models multiply what they add to the residual stream by a factor. The stream is kept divided by that factor
    // instead: norms take it out again, where their epsilon is divided by its square. So this includes
    // 1 / residual_scale.
    float embedding_scale = 1.0f;
    float logit_scale = 1.0f;
    float attention_scale = 0.0f;
    float attention_softcap = 0.0f;  // 0: none
    float final_softcap = 0.0f;      // 0: none
    int sliding_window = 0;          // tokens a sliding layer sees, the newest included; 0: none
    QueryTemperature temperature;
    QkNormWeight qk_norm_weight = QkNormWeight::FromFile;
    bool rope_neox = true;  // as Architecture's
    float rope_base = 10000.0f;
    float rope_base_local = 10000.0f;  // of sliding layers
    RopeScaling rope_scaling;
    int experts = 0;
    int experts_used = 0;
    int expert_ffn_length = 0;
    int expert_length = 0;  // values of a row that experts read and give: the embedding's, or fewer (latent experts)
    int expert_groups = 0;  // groups of as many experts, of which some compete; 0: all experts do
    int expert_groups_used = 0;
    float expert_weights_scale = 1.0f;
    RouterScores router_scores = RouterScores::Softmax;
    ExpertWeights expert_weights = ExpertWeights::SumToOne;
    LatentShape latent;      // of every layer's attention; its heads then have keys of rank + rope, and values of rank
    StateSpace state_space;  // of every recurrent layer
    StreamParameters streams;
    NgramParameters ngrams;
    int dense_context = 0;  // beyond this many tokens attention is sparse, which is not computed; 0: it never is
    int side_length = 0;    // values of its own that each layer gets of each token (per-layer embeddings); 0: none
    std::vector<LayerParameters> layers;
    Pooling pooling = Pooling::None;
    int mtp_blocks = 0;  // behind the layers: they predict tokens after the next one (multi-token prediction)

    /// Returns the floats of the state that layer l keeps for each sequence, that of its mixer first; 0: it keeps none.
    int state_floats(int l) const { return mixer_floats(l) + (layers[std::size_t(l)].ngrams ? ngram_floats() : 0); }
    int mixer_floats(int l) const { return is_recurrent(layers[std::size_t(l)].mixer) ? state_space.floats() : 0; }
    /// Returns the columns that such a mixer reads of each token: all products of its input. 0: it is not recurrent.
    int recurrent_input_cols(Mixer mixer) const;
    /// Returns the floats of the last inputs of the convolution over all streams.
    int ngram_floats() const { return (ngrams.spread_taps() - 1) * streams.count * embedding_length; }

    int longest_key() const;  // of any layer
    int longest_value() const;
    /// Returns how many dimensions the layers turn that use the angles of this kind; 0: there is none.
    int rope_dimensions(LayerKind kind) const;
};

/// Says whether sliding layers turn by angles of their own.
bool has_local_rope(const Hyperparameters& h);

/// Fails with one sentence for an architecture this version does not run, and for numbers that make no sense.
Result<Hyperparameters> read_hyperparameters(const GgufFile& file);

}  // namespace engine
