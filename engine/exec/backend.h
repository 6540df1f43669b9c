// The operations of the decoder on one device. Each works on all rows of a batch; none fails, none allocates.
#pragma once

#include "engine/exec/rows.h"
#include "engine/kv/kv_cache.h"
#include "engine/model/weights.h"

#include <span>

namespace engine {

/// One of several products of the same rows: x times matrix goes to columns [out_col, out_col + matrix.rows).
struct Product {
    const Matrix* matrix = nullptr;
    Vector bias = nullptr;  // (matrix.rows,)
    int out_col = 0;
};

/// Where the heads of a fused query-key-value row lie.
struct HeadLayout {
    int heads = 0, kv_heads = 0;
    int key_length = 0, value_length = 0;
    int group() const { return heads / kv_heads; }
    int k_col() const { return heads * key_length; }
    int v_col() const { return k_col() + kv_heads * key_length; }
    int cols() const { return v_col() + kv_heads * value_length; }
};

/// cos and sin of the rotation of each row, (rows, pairs).
struct Rotation {
    const float* cos = nullptr;
    const float* sin = nullptr;
    int pairs = 0;
    bool neox = true;
};

struct AttentionParameters {
    HeadLayout heads;
    const float* q_scale = nullptr;  // (rows,) factor on each row's queries
    float softcap = 0.0f;
    int window = 0;          // tokens seen, the row's own included; 0: all
    Vector sinks = nullptr;  // (heads,) logits that join the softmax and carry no value
};

struct ExpertParameters {
    int used = 0;
    float weights_scale = 1.0f;
    Gate gate = Gate::Silu;
};

class Backend
{
public:
    virtual ~Backend() = default;

    virtual void embed(const Matrix& table, std::span<const int> ids, float scale, Rows& out) = 0;
    virtual void rms_norm(Rows& x, Vector weight, float epsilon, Rows& out) = 0;
    /// Each of `heads` heads of `length` values, from column `col` on, by itself.
    virtual void norm_heads(Rows& x, int col, int heads, int length, Vector weight, float epsilon) = 0;
    virtual void rope_heads(Rows& x, int col, int heads, int length, const Rotation& rotation) = 0;
    virtual void products(Rows& x, std::span<const Product> products, Rows& out) = 0;
    /// gate_up: (rows, 2 n), gate first; out: (rows, n)
    virtual void gated(Gate gate, const Rows& gate_up, Rows& out) = 0;
    virtual void add(const Rows& y, Rows& x) = 0;
    virtual void soft_cap(float cap, Rows& x) = 0;

    /// Appends the rows' keys and values to layer l: tokens first, first + 1, ... of the sequence.
    virtual void store_kv(const Rows& qkv, const HeadLayout& heads, int l, KvCache& cache, const KvSequence& sequence,
                          int first) = 0;
    /// Causal attention of tokens first, first + 1, ... over everything before them and themselves.
    virtual void attend(const Rows& qkv, const AttentionParameters& p, int l, const KvCache& cache,
                        const KvSequence& sequence, int first, Rows& out) = 0;
    /// Mixture of experts: out = sum over the chosen experts of weight * down(gate(x) * up(x)).
    virtual void experts(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out) = 0;
};

}  // namespace engine
