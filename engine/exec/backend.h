// Backend declares the operations of the decoder on one device. Each works on all rows of a batch. None allocates or
// fails: take_status() says after the step what has gone wrong on a device.
#pragma once

#include "engine/exec/activations.h"
#include "engine/exec/logits.h"
#include "engine/exec/recurrent_parameters.h"
#include "engine/exec/stream_operations.h"
#include "engine/kv/kv_cache.h"
#include "engine/metrics/step_clock.h"
#include "engine/model/weights.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>

namespace engine {

/// One of several products of the same rows: x times matrix goes to columns [out_col, out_col + matrix.rows).
struct Product {
    const Matrix* matrix = nullptr;
    Vector bias = nullptr;  // (matrix.rows,)
    int out_col = 0;
};

/// Heads of a row: head h has columns [col + h * stride, + length).
struct HeadColumns {
    int col = 0;
    int heads = 0;
    int length = 0;
    int stride = 0;
};

struct AttentionParameters {
    HeadLayout heads;
    const float* q_scale = nullptr;  // (rows,) factor on each row's queries
    float softcap = 0.0f;
    int window = 0;          // tokens seen, the row's own included; 0: all
    Vector sinks = nullptr;  // (heads,) logits that join the softmax and carry no value
    WindowKind window_kind = WindowKind::Sliding;
    LayerKind layer_kind = LayerKind::FullAttention;  // the layers whose factors on queries apply
    const Matrix* reader = nullptr;  // the matrix that the next operation multiplies the result with; null: none
};

/// Says how a row's queries, keys and values are changed between their products and attention.
struct HeadPreparation {
    HeadLayout heads;
    Vector q_norm = nullptr, k_norm = nullptr, v_norm = nullptr;  // null: these are not normed
    QkNorm norm = QkNorm::HeadsBeforeRope;
    float epsilon = 0.0f;
    const Rotation* rotation = nullptr;  // null: they are not turned
    bool own_kv = true;                  // else the layer attends the keys and values of another
};

struct ExpertParameters {
    int used = 0;
    float weights_scale = 1.0f;
    Gate gate = Gate::Silu;
    RouterScores scores = RouterScores::Softmax;
    ExpertWeights weights = ExpertWeights::SumToOne;
    ExpertWeighs weighs = ExpertWeighs::Output;
    Rows* routed_by = nullptr;  // (rows, dim) that the router reads; null: it reads what the experts read
    // Experts are divided into groups; only those of the `groups_used` groups compete whose two best experts have the
    // largest sum. 0: all compete.
    int groups = 0, groups_used = 0;
    // The sequences that the rows belong to, and the layer of these experts: to count which experts are chosen.
    std::span<const RowGroup> tokens = {};
    int layer = 0;
    /// Says whether the weights are a softmax over the logits of the chosen experts, which were chosen by their logits.
    bool softmax_of_chosen(Vector choice_bias) const
    {
        return scores == RouterScores::Softmax && weights == ExpertWeights::SumToOne && !choice_bias && groups == 0;
    }
};

/// The weights of a row's experts are divided by their sum, or by this where the sum is less.
constexpr float kLeastSumOfWeights = 1.0f / (1 << 14);

// gpt-oss (arXiv 2508.10925): swiglu with a clamp and a residual of one.
constexpr float kSwigluOaiAlpha = 1.702f, kSwigluOaiLimit = 7.0f;

/// Says how a sum is normed, and with which matrix the next operation multiplies the result. Null weight: it is not
/// normed.
struct FollowingNorm {
    Vector weight = nullptr;
    float epsilon = 0.0f;
    const Matrix* reader = nullptr;
    const Matrix* next = nullptr;  // the matrix that is read first behind the norm
};

/// Says which rows a step has. All rows of a sequence follow each other, and no sequence has two groups.
struct Step {
    KvCache& cache;
    std::span<const RowGroup> groups;  // one after another; not empty
    int device_layers;                 // [0, device_layers) are computed on a device
    StepClock& clock;                  // measures where the step's time goes, whatever the backend

    LayerOn layer_on(int l) const { return l < device_layers ? LayerOn::Device : LayerOn::Host; }
    int rows() const { return groups.back().row + groups.back().count(); }
    const RowGroup& group_of(int row) const
    {
        return *std::prev(std::ranges::upper_bound(groups, row, {}, &RowGroup::row));
    }
    /// Returns the only group, for operations that compute the rows of one sequence at a time.
    const RowGroup& one() const
    {
        assert(groups.size() == 1);
        return groups.front();
    }
};

/// Layers that one backend computes one after another in a step.
struct LayerRange {
    int first = 0, last = 0;  // [first, last)
    /// Changes whenever a layer's weights lie elsewhere.
    std::uint64_t placement = 0;
    bool operator==(const LayerRange&) const = default;
};

/// The memory that a backend computes in.
enum class MemorySpace { Host, Device };

class Backend
{
public:
    virtual ~Backend() = default;

    virtual MemorySpace memory_space() const { return MemorySpace::Host; }
    /// Returns the rows in which it computes a batch: `host`, or rows of its own in the device's memory.
    virtual Activations& activations(Activations& host) { return host; }

    // ---- for a backend that computes in a device's memory ----

    /// Takes the residual stream and the position tables from the host.
    virtual void enter(const Step& /*step*/, const Activations& /*host*/) {}
    /// Copies rows of its memory to the host's; they can be read when this returns.
    virtual void fetch(const Rows& /*from*/, RowRange /*rows*/, Rows& /*host*/) {}
    /// Brings the `count` largest of one row of logits to the host; RowLogits::largest can be read until the next call.
    /// Empty: this backend does not search for them.
    virtual RowLogits fetch_largest(const Rows& /*logits*/, int /*row*/, int /*count*/) { return {}; }
    /// Computes the layers: by calling `work`, or by repeating what `work` gave to the device in an earlier step.
    virtual void run_layers(const LayerRange& /*range*/, const std::function<void()>& work) { work(); }
    /// Returns what has gone wrong since this was last called.
    virtual Status take_status() { return {}; }

    // ---- operations ----

    virtual void rms_norm(Rows& x, Vector weight, float epsilon, Rows& out) = 0;
    /// Does the same where the next operation multiplies the result with `reader`.
    virtual void rms_norm_before(const Matrix& /*reader*/, Rows& x, Vector weight, float epsilon, Rows& out)
    {
        rms_norm(x, weight, epsilon, out);
    }
    /// Does the same with the mean subtracted first.
    virtual void layer_norm(Rows& x, Vector weight, float epsilon, Rows& out) = 0;
    /// Norms each head by itself, and writes them one behind the other from column `to` on, which may be where they
    /// are.
    virtual void norm_heads(Rows& x, const HeadColumns& from, Vector weight, float epsilon, int to) = 0;
    /// Norms each head where it is, with its mean subtracted first. weights: (heads, length)
    virtual void layer_norm_heads(Rows& x, const HeadColumns& at, Vector weights, float epsilon) = 0;
    /// Multiplies x with the sigmoid of `gates`. x: (rows, heads * length)
    virtual void gate_heads(const Rows& gates, const HeadColumns& at, Rows& x) = 0;
    /// Multiplies each row of x with the sigmoid of its weight. weights: (rows, 1)
    virtual void weigh_rows(const Rows& weights, Rows& x) = 0;
    virtual void rope_heads(Rows& x, int col, int heads, int length, const Rotation& rotation) = 0;
    virtual void products(Rows& x, std::span<const Product> products, Rows& out) = 0;
    /// Multiplies each head of x with its own matrix of the stack, in head order. from.length: stack.n, to.length:
    /// stack.rows; the shape of `out` stays, and so does what lies between its heads.
    virtual void multiply_heads(Rows& x, const HeadColumns& from, const Matrix& stack, Rows& out,
                                const HeadColumns& to) = 0;
    /// Copies heads of x to heads of `out`, whose shape stays.
    virtual void copy_heads(const Rows& x, const HeadColumns& from, Rows& out, const HeadColumns& to) = 0;
    /// out = gate(first half) * second half. gate_up: (rows, 2 n), gate first; out: (rows, n)
    virtual void gated(Gate gate, const Rows& gate_up, Rows& out) = 0;
    /// Does the same where the gates are x, (rows, n), and the values that they multiply are columns [col, col + n) of
    /// `up`.
    virtual void gated_by(Gate gate, const Rows& x, const Rows& up, int col, Rows& out) = 0;
    /// Leaves of each row's first n columns what exceeds their mean plus this many standard deviations, or else 0.
    virtual void keep_above(float deviations, int n, Rows& x) = 0;
    virtual void add(const Rows& y, Rows& x) = 0;
    virtual void scale(float factor, Rows& x) = 0;
    /// sum += the product of x. `branch`: room for the product, where it cannot be added while it is computed.
    virtual void add_product(Rows& x, const Product& product, Rows& branch, Rows& sum)
    {
        products(x, std::span(&product, 1), branch);
        add(branch, sum);
    }
    /// Does the same; then out = the norm of sum.
    virtual void add_product_and_norm(Rows& x, const Product& product, Rows& branch, Rows& sum,
                                      const FollowingNorm& norm, Rows& out)
    {
        add_product(x, product, branch, sum);
        rms_norm_before(*norm.reader, sum, norm.weight, norm.epsilon, out);
    }
    /// out = gate * up of x, from both products, gate first; the next operation multiplies it with `reader`. `gate_up`:
    /// room for the products.
    virtual void gated_products(Rows& x, std::span<const Product> gate_and_up, Gate gate, const Matrix& /*reader*/,
                                Rows& gate_up, Rows& out)
    {
        products(x, gate_and_up, gate_up);
        gated(gate, gate_up, out);
    }
    virtual void copy_row(const Rows& from, int row, Rows& to) = 0;  // to: (1, cols)
    /// Copies floats of its memory, which do not overlap.
    virtual void copy(const float* from, float* to, std::size_t count) = 0;
    virtual void soft_cap(float cap, Rows& x) = 0;

    /// Norms and turns queries and keys. Where the layer has keys and values of its own, appends them to layer l of
    /// their sequences; then only the queries in qkv are of use.
    virtual void prepare_heads(Rows& qkv, const HeadPreparation& p, int l, const Step& step);
    /// qkv = the products of x, queries, keys, values and gates; then prepares the heads.
    virtual void project_heads(Rows& x, std::span<const Product> products, Rows& qkv, const HeadPreparation& p, int l,
                               const Step& step);
    /// Appends the rows' keys and values to layer l of their sequences.
    virtual void store_kv(const Rows& qkv, const HeadLayout& heads, int l, const Step& step) = 0;
    /// Computes the causal attention of each row over everything before it in its sequence and itself.
    virtual void attend(const Rows& qkv, const AttentionParameters& p, int l, const Step& step, Rows& out) = 0;
    /// Mixture of experts: out = sum over the chosen experts of weight * down(gate(x) * up(x)).
    virtual void experts(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out) = 0;

    // Mixers of recurrent layers, between their products: they move a sequence's state of the layer on by the rows
    // p.rows. They overwrite these rows of `mixed` and write the same rows of `out`.

    /// mixed: (rows, [q k v: conv_channels | z: inner | beta: heads | alpha: heads]); out: (rows, inner)
    virtual void delta_net(Rows& mixed, const DeltaNetParameters& p, Rows& out) = 0;
    /// mixed: (rows, [z: inner | x: inner | B: groups state_size | C: groups state_size | dt: heads]); out: (rows,
    /// inner)
    virtual void mamba2(Rows& mixed, const Mamba2Parameters& p, Rows& out) = 0;
    /// mixed: (rows, [b: channels | c: channels | u: channels]); out: (rows, channels) = c * convolution of b * u
    virtual void short_convolution(Rows& mixed, const ShortConvolutionParameters& p, Rows& out) = 0;

    /// Returns the operations on residual streams, for models that have several.
    virtual StreamOperations& streams() = 0;
};

}  // namespace engine
