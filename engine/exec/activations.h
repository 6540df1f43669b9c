// Activations holds what one backend computes a batch in: the rows between the operations of a layer, and the tables
// that all layers share. Allocated once.
#pragma once

#include "engine/exec/drafted_inputs.h"
#include "engine/exec/rows.h"
#include "engine/model/head_layout.h"

namespace engine {

/// cos and sin of the rotation of each row, (rows, pairs).
struct Rotation {
    const float* cos = nullptr;
    const float* sin = nullptr;
    int pairs = 0;
    bool neox = true;
};

/// Holds what depends on the positions of a batch's rows: one run of floats, so that it is copied in one piece.
class PositionTables
{
public:
    PositionTables(const Hyperparameters& h, int max_rows, RowMemory& memory);

    void set_rows(int count) { rows_.set_shape(1, floats_per_row_ * (count_ = count)); }
    int count() const { return count_; }
    int floats() const { return rows_.cols(); }
    float* data() { return rows_.row(0); }
    const float* data() const { return rows_.row(0); }

    Rotation rotation(LayerKind kind) const;
    float* cos(LayerKind kind) { return data() + begin_of(kind); }
    float* sin(LayerKind kind) { return cos(kind) + angles(kind); }
    /// Returns the factor on each row's queries, (rows,).
    float* q_scale(LayerKind kind) { return data() + scale_offset(kind); }
    const float* q_scale(LayerKind kind) const { return data() + scale_offset(kind); }
    /// Says whether sliding layers have a rope base of their own.
    bool has_local() const { return has_local_; }
    /// Says whether queries of sliding layers are scaled without the temperature.
    bool has_plain_scales() const { return scales_ == 2; }
    std::size_t bytes() const { return rows_.bytes(); }

private:
    bool is_local(LayerKind kind) const { return has_local() && kind == LayerKind::SlidingWindow; }
    int pairs(LayerKind kind) const { return is_local(kind) ? local_pairs_ : pairs_; }
    std::size_t angles(LayerKind kind) const { return std::size_t(count_) * std::size_t(pairs(kind)); }
    /// Cos and sin of all layers lie first, then those of sliding ones, then the factors.
    std::size_t begin_of(LayerKind kind) const { return is_local(kind) ? 2 * angles(LayerKind::FullAttention) : 0; }
    std::size_t scale_offset(LayerKind kind) const
    {
        const bool plain = has_plain_scales() && kind == LayerKind::SlidingWindow;
        return std::size_t(count_) * std::size_t(2 * pairs_ + 2 * local_pairs_ + (plain ? 1 : 0));
    }

    bool has_local_;
    int pairs_, local_pairs_;
    bool neox_;
    int scales_;  // q_scale: one for all layers, or two where sliding ones have their own; (rows,) each
    int floats_per_row_;
    int count_ = 0;
    Rows rows_;
};

/// Returns the widest dense feed-forward part of any layer: the values between its two products.
int widest_ffn(const Hyperparameters& h);

struct Activations {
    /// `head_rows`: how many rows of logits are computed at a time.
    Activations(const Hyperparameters& h, int max_rows, RowMemory& memory, int head_rows = 1);

    PositionTables tables;
    Rows hidden;     // (rows, dim): the residual stream
    Rows x;          // (rows, dim): normed
    Rows qkv;        // (rows, q_dim + k_dim + v_dim), or what a recurrent mixer reads
    Rows attended;   // (rows, heads * value_length), or what a recurrent mixer writes
    Rows gate_up;    // (rows, 2 ffn)
    Rows inner;      // (rows, ffn)
    Rows branch;     // (rows, dim): what attention or the feed-forward part adds
    Rows weight;     // (rows, 1): the weight of the expert that all rows share, before the sigmoid
    Rows routed;     // (rows, dim): what the router reads; only where a dense part lies beside experts
    Rows beside;     // (rows, dim): what the experts add where a dense part lies beside them
    Rows expert_in;  // (rows, expert_length): what latent experts read; expert_sum: what they write
    Rows expert_sum;
    // Only with several residual streams; `hidden` is then the active one.
    Rows streams;        // (rows, streams * dim)
    Rows stream_routes;  // (rows, streams): what a layer's router says of them, or each one's share of a part's result
    Rows low_rank;       // (rows, rank)
    Rows stream_norms;   // (rows, streams * dim): with hyper-connections, the streams, each normed
    Rows stream_gates;   // (rows, streams * dim): with hyper-connections, the gates on these
    Rows last_streams;   // (1, streams * dim)
    Rows side;           // (rows, layers * side): each layer's own input of each token; or (rows, values): its n-grams'
    Rows last;           // (head_rows, dim): rows whose logits are asked for
    Rows last_x;         // (head_rows, dim): normed
    Rows logits;         // (head_rows, vocabulary)

    /// Returns the rows that go from layer to layer, and from one memory to another.
    Rows& carried() { return several_streams_ ? streams : hidden; }
    const Rows& carried() const { return several_streams_ ? streams : hidden; }

    // Of latent attention only.
    Rows query_low;     // (rows, query_rank): the low-rank rows that queries are made of
    Rows latent_heads;  // (rows, heads * longest of both): each head's query, and later its sum of the latent rows

    DraftedInputs drafted;

    std::size_t bytes() const;
    /// Says whether the layers' parts read mixtures of several streams.
    static bool connects(const Architecture& a) { return a.streams == Streams::HyperConnections; }
    /// Says whether attention, or the feed-forward part, reads `hidden` itself.
    static bool attention_reads_hidden(const Architecture& a) { return a.attn_norm.empty() && !connects(a); }
    static bool feed_forward_reads_hidden(const Architecture& a)
    {
        return a.ffn_norm.empty() && a.branches == Branches::InTurn && !connects(a);
    }
    /// Takes the memory of the 8-bit copies of all rows that are multiplied; with `residuals` also of what rounding
    /// lost.
    void take_rounded(bool residuals);

private:
    bool several_streams_;
    bool rounds_side_;
    bool rounds_hidden_;
};

}  // namespace engine
