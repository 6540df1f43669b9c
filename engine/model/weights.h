// Weights holds the weights of a model: named tensors of the file as matrices and vectors, checked against the
// hyperparameters. Nothing is copied but small vectors that are not stored as floats.
#pragma once

#include "engine/gguf/gguf_file.h"
#include "engine/model/hyperparameters.h"
#include "kernels/types.h"

#include <array>
#include <deque>
#include <vector>

namespace engine {

class ExpertCache;
class ExpertRing;

/// `rows` rows of n weights. A stack of matrices (experts) is one tensor: matrix e starts at e * bytes().
struct Matrix {
    kernels::TensorType type = kernels::TensorType::F32;
    int n = 0;
    int rows = 0;
    const std::byte* data = nullptr;
    bool interleaved = false;      // its rows, by kernels::CpuKernels::interleave
    const float* scale = nullptr;  // a factor for all weights, of a stack one for each matrix; null: 1

    explicit operator bool() const { return data != nullptr; }
    std::size_t bytes() const { return std::size_t(rows) * kernels::row_bytes(type, n); }
    /// Returns some of the matrix's rows.
    Matrix part(int first, int count) const
    {
        return {type, n, count, data + std::size_t(first) * kernels::row_bytes(type, n), false, scale};
    }
    Matrix expert(int e) const
    {
        return {type, n, rows, data + std::size_t(e) * bytes(), interleaved, scale ? scale + e : nullptr};
    }
};

/// Null where the architecture has none.
using Vector = const float*;

/// AltUp of a layer, with what LAuReL (arXiv 2411.07501) adds beside attention.
struct AltUpWeights {
    Matrix router;                  // (streams, dim)
    Vector router_norm = nullptr;   // (dim,), divided by dim
    Vector predict = nullptr;       // (streams * streams, streams): by [to][from], times the router's values
    Vector correct = nullptr;       // (streams, streams)
    Vector scale = nullptr;         // (dim,) on what the side branch reads
    Matrix laurel_down, laurel_up;  // (rank, dim), (dim, rank)
    Vector laurel_norm = nullptr;   // (dim,)
};

/// Says how a part of a layer reads several streams, and adds to them. f: the streams, each normed; h: how many there
/// are.
struct StreamConnection {
    Vector norm = nullptr;  // (streams * dim,); null: there is none
    Matrix down, up;        // (rank, streams * dim) times 1 / h, (streams * dim, rank): gates of f
    Matrix inject;          // (streams, streams * dim) times 1 / h: what each stream gets of the part's result
};

/// Embeddings of n-grams.
struct NgramWeights {
    Matrix key, value;                                                     // (streams * dim, values), (dim, values)
    Vector key_norm = nullptr, query_norm = nullptr, conv_norm = nullptr;  // (streams * dim,)
    Vector taps = nullptr;                                                 // (spread_taps, streams * dim)
};

struct LayerWeights {
    Vector attn_norm = nullptr;  // (dim,)
    Matrix qkv;                  // fused: (q_dim + 2 kv_dim, dim), else
    // (q_dim, dim), (kv_dim, dim), (kv_dim, dim); beside gates q is (2 q_dim, dim); without v the values are the
    // product of k
    Matrix q, k, v;
    Matrix attn_gate;  // (q_dim, dim) apart from q
    Vector q_bias = nullptr, k_bias = nullptr, v_bias = nullptr, qkv_bias = nullptr;
    // (key_length,); of whole rows, or where each head has its own, (q_dim,), (kv_dim,)
    Vector q_norm = nullptr, k_norm = nullptr;
    Vector v_norm = nullptr;          // (value_length,)
    Vector sinks = nullptr;           // (heads,)
    Matrix attn_out;                  // (dim, q_dim); of Mixer::Matrix (dim, dim)
    Vector attn_out_bias = nullptr;   // (dim,)
    Vector attn_post_norm = nullptr;  // (dim,)

    // Of latent attention; s: its LatentShape. q is (heads * s.key_length, s.query_rank or dim).
    Matrix q_low;                  // (s.query_rank, dim)
    Vector q_low_norm = nullptr;   // (s.query_rank,)
    Matrix kv_low;                 // (s.rank + rope, dim): the row that is kept
    Vector kv_low_norm = nullptr;  // (s.rank,)
    Matrix k_up, v_up;             // stacks: (heads, s.rank, s.plain), (heads, s.value_length, s.rank)
    int stacked_heads = 0;         // of these

    // Of a recurrent layer; s: its StateSpace.
    Matrix mix_in;    // delta net: (s.conv_channels, dim); Mamba-2: (s.inner + s.conv_channels + s.heads, dim)
                      // [z, x, B, C, dt]; short convolution: (3 dim, dim) [b, c, u]
    Matrix mix_gate;  // delta net: (s.inner, dim)
    Matrix mix_beta, mix_alpha;  // delta net: (s.heads, dim)
    Matrix mix_out;              // (dim, s.inner)
    Vector conv_taps = nullptr;  // (s.conv_width, s.conv_channels), the oldest token's first
    Vector conv_bias = nullptr;  // (s.conv_channels,)
    Vector dt_bias = nullptr, decay = nullptr, skip = nullptr;  // (s.heads,); decay is negative
    Vector mix_norm = nullptr;                                  // delta net: (s.head_length,); Mamba-2: (s.inner,)

    Vector ffn_norm = nullptr;  // (dim,)
    // In a layer with experts these are of the expert that all rows share, if there is one.
    Matrix gate, up;  // (ffn, dim); fused: up is (2 ffn, dim), gate first, and gate is empty
    Matrix down;      // (dim, ffn)
    Vector gate_bias = nullptr, up_bias = nullptr, down_bias = nullptr;  // by the rows of gate, up and down
    Vector ffn_post_norm = nullptr;                                      // (dim,)

    Matrix router;                    // (experts, dim); empty: no experts in this layer
    Vector router_bias = nullptr;     // (experts,)
    Vector choice_bias = nullptr;     // (experts,) added to scores only while experts are chosen
    Matrix shared_weight;             // (1, dim) sigmoid of it: the shared expert's weight
    Matrix gate_experts, up_experts;  // (experts, expert_ffn, expert_length), or fused as gate and up, or ups alone
    Matrix down_experts;              // (experts, expert_length, expert_ffn)
    Vector gate_experts_bias = nullptr, up_experts_bias = nullptr;  // (experts, expert_ffn)
    Vector down_experts_bias = nullptr;                             // (experts, expert_length)
    Vector down_experts_scale = nullptr;                            // (experts,) factor on what each expert gives
    Matrix latent_down, latent_up;  // (expert_length, dim), (dim, expert_length): around latent experts
    // Where there is a dense part beside the experts: norms of what each reads and gives. (dim,)
    Vector router_norm = nullptr, experts_norm = nullptr, dense_post_norm = nullptr, experts_post_norm = nullptr;

    // Per-layer embeddings: hidden += side_out times (gate of side_gate times hidden, times the layer's side input).
    Matrix side_gate, side_out;       // (side, dim), (dim, side)
    Vector side_post_norm = nullptr;  // (dim,)
    float output_scale = 1.0f;        // factor on the residual stream at the layer's end

    float gate_deviations = 0.0f;  // gates count from this many standard deviations above their mean on; 0: all do
    AltUpWeights altup;            // its router is empty where there is none
    StreamConnection attn_streams, ffn_streams;
    NgramWeights ngrams;  // its key is empty where there are none

    /// The layer's weights on the host, where its experts are computed there and all else on a device with a memory of
    /// its own.
    const LayerWeights* experts_on_host = nullptr;
    /// Which of the routed experts, all of which lie on the host, a device has as well; null: none.
    ExpertCache* cached_experts = nullptr;
    /// Brings others of them to the device for a step; null: none come.
    ExpertRing* expert_ring = nullptr;
};

/// Says which part of a layer's weights is meant: its routed experts' stacks are read little at a time and may lie
/// elsewhere than the rest.
enum class LayerPart { Whole, WithoutExperts, Experts };

/// Calls visit(stack) for each stack of routed experts. W: LayerWeights, const or not
template <class W, class Visit>
void for_each_expert_stack(W& w, const Visit& visit)
{
    for (auto* stack : {&w.gate_experts, &w.up_experts, &w.down_experts})
        if (*stack)
            visit(*stack);
}

/// Gives `to` the routed experts of `from`.
inline void take_expert_stacks(const LayerWeights& from, LayerWeights& to)
{
    to.gate_experts = from.gate_experts;
    to.up_experts = from.up_experts;
    to.down_experts = from.down_experts;
}

/// Calls visit(matrix, how many of its size lie one after another) for every one there is in the part. W: LayerWeights,
/// const or not
template <class W, class Visit>
void for_each_matrix(W& w, int experts, LayerPart part, const Visit& visit)
{
    if (part != LayerPart::WithoutExperts)
        for_each_expert_stack(w, [&](auto& stack) { visit(stack, experts); });
    if (part == LayerPart::Experts)
        return;
    for (auto* matrix : {&w.qkv,
                         &w.q,
                         &w.k,
                         &w.v,
                         &w.attn_gate,
                         &w.attn_out,
                         &w.mix_in,
                         &w.mix_gate,
                         &w.mix_beta,
                         &w.mix_alpha,
                         &w.mix_out,
                         &w.gate,
                         &w.up,
                         &w.down,
                         &w.router,
                         &w.shared_weight,
                         &w.latent_down,
                         &w.latent_up,
                         &w.side_gate,
                         &w.side_out,
                         &w.altup.router,
                         &w.altup.laurel_down,
                         &w.altup.laurel_up,
                         &w.attn_streams.down,
                         &w.attn_streams.up,
                         &w.attn_streams.inject,
                         &w.ffn_streams.down,
                         &w.ffn_streams.up,
                         &w.ffn_streams.inject,
                         &w.ngrams.key,
                         &w.ngrams.value})
        if (*matrix)
            visit(*matrix, 1);
    for (auto* matrix : {&w.q_low, &w.kv_low})
        if (*matrix)
            visit(*matrix, 1);
    for (auto* stack : {&w.k_up, &w.v_up})
        if (*stack)
            visit(*stack, w.stacked_heads);
}

/// Says whether a tensor belongs to no layer that is run: to a block behind them, which predicts several tokens at
/// once, or to a part that reads pictures.
bool is_left_aside(const GgufTensor& tensor, const Hyperparameters& h);

/// Holds what follows the last layer.
struct HeadWeights {
    Vector norm = nullptr;  // (dim,); includes the model's factor on logits; null: there is none
    Matrix output;          // (vocabulary, dim); the embedding again where the file ties them
    std::array<Matrix, kMostStreams - 1> stream_out;  // AltUp: (dim, dim) of each stream but the first
    StreamConnection streams;                         // hyper-connections, without `inject`
};

/// Holds the weights with which a block of multi-token prediction makes its layer's input; see mtp_block.h.
struct MtpInput {
    Vector embedding_norm = nullptr, hidden_norm = nullptr;  // (dim,)
    Matrix projection;                                       // (dim, 2 dim); empty: it is no such block
};

class Weights
{
public:
    /// Finds every tensor the architecture needs, with the right shape and a type this version computes with; else it
    /// fails.
    static Result<Weights> read(const GgufFile& file, const Hyperparameters& h);

    Matrix token_embedding;  // (vocabulary, dim)
    std::vector<LayerWeights> layers;
    HeadWeights head;
    MtpInput mtp_input;
    Vector embedding_norm = nullptr;                 // (dim,) where embeddings are normed
    std::array<Matrix, kMostStreams - 1> stream_in;  // AltUp, (dim, dim): what makes the other streams of the first
    // Per-layer embeddings, of which the host makes every layer's side input. A row of the table is all that a token
    // needs, so it stays where it is.
    Matrix side_embedding;                                     // (vocabulary, layers * side); of n-grams (rows, length)
    Matrix side_projection;                                    // (layers * side, dim)
    Vector side_norm = nullptr;                                // (side,)
    std::vector<float> rope_factors;                           // llama 3's rope_freqs
    std::vector<float> rope_factors_long, rope_factors_short;  // long-rope
    std::int64_t bytes = 0;                                    // of all tensors that are used

private:
    friend class WeightReader;
    std::deque<std::vector<float>> converted_;     // vectors that the file does not store, or not as we want them
    std::deque<std::vector<std::byte>> gathered_;  // rows of matrices that the file stores in another order
};

/// Returns the bytes that one decode step reads: all but the embedding rows and the experts that are not chosen.
std::int64_t decode_bytes(const Weights& weights, const Hyperparameters& h);

}  // namespace engine
