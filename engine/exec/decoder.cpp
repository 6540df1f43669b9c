#include "engine/exec/decoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

namespace engine {

namespace {

using Part = StepClock::Part;

std::span<const float> rope_factors(const Weights& w, const Hyperparameters& h, int context_tokens)
{
    if (h.rope_scaling.kind != RopeScaling::Kind::LongRope)
        return w.rope_factors;
    return context_tokens > h.rope_scaling.original_context ? w.rope_factors_long : w.rope_factors_short;
}

}  // namespace

Decoder::Decoder(const Hyperparameters& h, const Weights& weights, int context_tokens, int max_rows)
    : h_(h)
    , weights_(weights)
    , max_rows_(max_rows)
    , rope_full_(rope_frequencies(h, LayerKind::FullAttention, rope_factors(weights, h, context_tokens)))
    , rope_local_(rope_frequencies(h, LayerKind::SlidingWindow, rope_factors(weights, h, context_tokens)))
    , host_(h, max_rows, host_row_memory())
{
}

/// What depends on positions: rotations, and the factor on the queries.
void Decoder::fill_positions(int first, int count)
{
    PositionTables& tables = host_.tables;
    tables.set_rows(count);
    constexpr auto kFull = LayerKind::FullAttention, kSliding = LayerKind::SlidingWindow;
    rope_table(rope_full_, first, count, tables.cos(kFull), tables.sin(kFull));
    if (tables.has_local())
        rope_table(rope_local_, first, count, tables.cos(kSliding), tables.sin(kSliding));
    for (int t = 0; t < count; ++t) {
        // Llama 4 and Mistral 3 sharpen attention with distance: 1 + scale * ln(1 + floor(position / original)).
        const double periods = std::floor(double(first + t) / std::max(1, h_.rope_scaling.original_context));
        const double temperature =
            h_.temperature_scale != 0.0f ? 1.0 + h_.temperature_scale * std::log1p(periods) : 1.0;
        tables.q_scale()[t] = float(h_.attention_scale * temperature);
    }
}

void Decoder::append(const Placement& placement, KvCache& cache, KvSequence& sequence, std::span<const int> tokens)
{
    const Step step{cache, sequence, sequence.length()};
    StepClock& clock = placement.host().clock();
    fill_positions(step.first, int(tokens.size()));
    const Matrix& table = weights_.token_embedding;
    const float scale = (h_.architecture->scale_embeddings ? std::sqrt(float(h_.embedding_length)) : 1.0f) *
                        (table.scale ? *table.scale : 1.0f);
    placement.host().embed(table, tokens, scale, host_.hidden);
    rows_at_ = &placement.host();
    for (LayerRange range; range.last < int(weights_.layers.size());) {
        range = placement.range_from(range.last);
        Backend& on = placement.backend_of(range.first);
        bring_rows(on, step, clock);
        // One reference fits the function itself: nothing is allocated.
        const auto layers = [&, at = Place{on, activations(on), step}] {
            for (int l = range.first; l < range.last;) {
                const bool there = cache.on_device(l);  // an emulated device and the host are one backend
                const StepClock::Scope scope(clock, there ? Part::DeviceLayers : Part::HostLayers);
                for (; l < range.last && cache.on_device(l) == there; ++l)
                    layer(l, placement.weights_of(l), at);
            }
        };
        const StepClock::Scope scope(clock, on.memory_space() == MemorySpace::Device ? Part::DeviceLayers : Part::Rest);
        on.run_layers(range, std::cref(layers));
    }
    sequence.ids.insert(sequence.ids.end(), tokens.begin(), tokens.end());
}

/// The residual stream goes where the next layer computes.
void Decoder::bring_rows(Backend& to, const Step& step, StepClock& clock)
{
    if (&to == rows_at_)
        return;
    const StepClock::Scope waiting(clock, Part::DeviceLayers);
    if (to.memory_space() == MemorySpace::Device)
        to.enter(step, host_);
    else
        rows_at_->fetch(activations(*rows_at_).hidden, host_.hidden);
    rows_at_ = &to;
}

/// One transformer layer: the residual stream is read and updated in place.
void Decoder::layer(int l, const LayerWeights& w, const Place& at)
{
    auto& [on, a, step] = at;
    on.rms_norm(a.hidden, w.attn_norm, h_.rms_epsilon, a.x);
    attention(l, w, at);
    add_branch(a.attended, {&w.attn_out, w.attn_out_bias, 0}, w.attn_post_norm, at);

    on.rms_norm(a.hidden, w.ffn_norm, h_.rms_epsilon, a.x);
    if (w.router) {
        on.experts(a.x, w, {h_.experts_used, h_.expert_weights_scale, h_.architecture->gate}, a.branch);
        add_normed(w.ffn_post_norm, at);
    } else {
        feed_forward(w, at);
        add_branch(a.inner, {&w.down, nullptr, 0}, w.ffn_post_norm, at);
    }
}

/// hidden += product of y, normed first where the architecture does that
void Decoder::add_branch(Rows& y, const Product& product, Vector post_norm, const Place& at)
{
    auto& [on, a, step] = at;
    if (!post_norm) {
        on.add_product(y, product, a.branch, a.hidden);
        return;
    }
    on.products(y, std::span(&product, 1), a.branch);
    add_normed(post_norm, at);
}

/// hidden += branch
void Decoder::add_normed(Vector post_norm, const Place& at)
{
    auto& [on, a, step] = at;
    if (post_norm)
        on.rms_norm(a.branch, post_norm, h_.rms_epsilon, a.branch);
    on.add(a.branch, a.hidden);
}

/// attended = attention of x
void Decoder::attention(int l, const LayerWeights& w, const Place& at)
{
    auto& [on, a, step] = at;
    const LayerParameters& parameters = h_.layers[std::size_t(l)];
    const HeadLayout heads = head_layout(h_, parameters);

    if (w.qkv) {
        const Product fused{&w.qkv, w.qkv_bias, 0};
        on.products(a.x, std::span(&fused, 1), a.qkv);
    } else {
        const std::array<Product, 3> apart{Product{&w.q, w.q_bias, 0}, Product{&w.k, w.k_bias, heads.k_col()},
                                           Product{&w.v, w.v_bias, heads.v_col()}};
        on.products(a.x, apart, a.qkv);
    }
    if (w.q_norm)
        on.norm_heads(a.qkv, 0, heads.heads, heads.key_length, w.q_norm, h_.rms_epsilon);
    if (w.k_norm)
        on.norm_heads(a.qkv, heads.k_col(), heads.kv_heads, heads.key_length, w.k_norm, h_.rms_epsilon);
    on.rope_heads(a.qkv, 0, heads.heads + heads.kv_heads, heads.key_length, a.tables.rotation(parameters.kind));

    on.store_kv(a.qkv, heads, l, step.cache, step.sequence, step.first);
    const int window = parameters.kind == LayerKind::SlidingWindow ? h_.sliding_window : 0;
    on.attend(a.qkv, {heads, a.tables.q_scale(), h_.attention_softcap, window, w.sinks}, l, step.cache, step.sequence,
              step.first, a.attended);
}

/// inner = gate times up of x
void Decoder::feed_forward(const LayerWeights& w, const Place& at)
{
    auto& [on, a, step] = at;
    const Gate gate = h_.architecture->gate;
    if (w.gate) {
        const std::array<Product, 2> apart{Product{&w.gate, nullptr, 0}, Product{&w.up, nullptr, w.gate.rows}};
        on.gated_products(a.x, apart, gate, a.gate_up, a.inner);
    } else {
        const Product fused{&w.up, nullptr, 0};
        on.gated_products(a.x, std::span(&fused, 1), gate, a.gate_up, a.inner);
    }
}

Part Decoder::head_part(const Placement& placement) const
{
    return placement.head_on_host() ? Part::HostLayers : Part::DeviceLayers;
}

/// Computes one row's logits where the head lies, and leaves them there; returns that backend.
Backend& Decoder::compute_logits(const Placement& placement, int row)
{
    // The head is on a device only where the last layer is.
    Backend& on = placement.backend_of_head();
    if (&on != rows_at_) {
        const StepClock::Scope waiting(placement.host().clock(), Part::DeviceLayers);
        rows_at_->fetch(activations(*rows_at_).hidden, host_.hidden);
        rows_at_ = &on;
    }
    Activations& a = activations(on);
    on.copy_row(a.hidden, row, a.last);
    on.rms_norm(a.last, placement.head().norm, h_.rms_epsilon, a.last_x);
    const Product output{&placement.head().output, nullptr, 0};
    on.products(a.last_x, std::span(&output, 1), a.logits);
    if (h_.final_softcap != 0.0f)
        on.soft_cap(h_.final_softcap, a.logits);
    return on;
}

std::span<const float> Decoder::fetch_logits(Backend& on)
{
    if (on.memory_space() == MemorySpace::Device)
        on.fetch(activations(on).logits, host_.logits);
    return {host_.logits.row(0), std::size_t(h_.vocabulary)};
}

std::span<const float> Decoder::logits(const Placement& placement, int row)
{
    const StepClock::Scope scope(placement.host().clock(), head_part(placement));
    return fetch_logits(compute_logits(placement, row));
}

RowLogits Decoder::logits(const Placement& placement, int row, std::optional<int> enough)
{
    const StepClock::Scope scope(placement.host().clock(), head_part(placement));
    Backend& on = compute_logits(placement, row);
    if (enough)
        if (const RowLogits largest = on.fetch_largest(activations(on).logits, *enough); !largest.largest.empty())
            return largest;
    return {.all = fetch_logits(on), .largest = {}};
}

}  // namespace engine
