// The decoder: tokens in, logits out. It is a list of operations; where each layer runs is the placement's business.
// Belongs to one loaded model; the engine's thread calls it. Nothing is allocated after construction.
#pragma once

#include "engine/exec/placement.h"
#include "engine/kv/kv_cache.h"
#include "engine/model/rope.h"
#include "engine/model/weights.h"

#include <span>
#include <vector>

namespace engine {

class Decoder
{
public:
    /// `context_tokens`: the context in use (it decides between long-rope's factors). `max_rows`: tokens of a batch.
    Decoder(const Hyperparameters& h, const Weights& weights, int context_tokens, int max_rows);

    int max_rows() const { return max_rows_; }
    int vocabulary() const { return h_.vocabulary; }
    std::size_t scratch_bytes() const;

    /// Computes tokens at positions sequence.length(), +1, ... for which pages have been reserved, and appends them to
    /// the sequence. 1 <= tokens.size() <= max_rows().
    void append(const Placement& placement, KvCache& cache, KvSequence& sequence, std::span<const int> tokens);

    /// Logits (vocabulary,) after one row of the last append(). Valid until the next call.
    std::span<const float> logits(const Placement& placement, int row);

private:
    struct Batch {
        const Placement& placement;
        KvCache& cache;
        KvSequence& sequence;
        int first;  // position of row 0
    };
    void layer(int l, const Batch& batch);
    void attention(int l, const Batch& batch);
    void feed_forward(int l, const Batch& batch);
    void fill_positions(int first, int count);
    Rotation rotation(LayerKind kind) const;

    const Hyperparameters& h_;
    const Weights& weights_;
    int max_rows_;
    RopeFrequencies rope_full_, rope_local_;
    std::vector<float> cos_full_, sin_full_;    // (max_rows, rope_dimensions / 2)
    std::vector<float> cos_local_, sin_local_;  // the same for sliding layers with a base of their own
    std::vector<float> q_scale_;                // (max_rows,)

    Rows hidden_;    // (rows, dim): the residual stream
    Rows x_;         // (rows, dim): normed
    Rows qkv_;       // (rows, q_dim + k_dim + v_dim)
    Rows attended_;  // (rows, heads * value_length)
    Rows gate_up_;   // (rows, 2 ffn)
    Rows inner_;     // (rows, ffn)
    Rows branch_;    // (rows, dim): what attention or feed-forward adds
    Rows last_;      // (1, dim): the row whose logits are asked for
    Rows last_x_;    // (1, dim): normed
    Rows logits_;    // (1, vocabulary)
};

}  // namespace engine
