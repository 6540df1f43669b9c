#include "engine/model/decoder.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

namespace engine {

namespace {

HeadLayout head_layout(const Hyperparameters& h, int l)
{
    const LayerParameters& p = h.layers[std::size_t(l)];
    return {p.heads, p.kv_heads, h.key_length, h.value_length};
}

/// Widest row over all layers.
template <class Width>
int widest(const Hyperparameters& h, const Width& width)
{
    int most = 1;
    for (std::size_t l = 0; l < h.layers.size(); ++l)
        most = std::max(most, width(int(l)));
    return most;
}

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
    , q_scale_(std::size_t(max_rows))
    , hidden_(max_rows, h.embedding_length)
    , x_(max_rows, h.embedding_length)
    , qkv_(max_rows, widest(h, [&](int l) { return head_layout(h, l).cols(); }))
    , attended_(max_rows, widest(h, [&](int l) { return head_layout(h, l).heads * h.value_length; }))
    , gate_up_(max_rows, 2 * widest(h, [&](int l) { return h.layers[std::size_t(l)].ffn_length; }))
    , inner_(max_rows, widest(h, [&](int l) { return h.layers[std::size_t(l)].ffn_length; }))
    , branch_(max_rows, h.embedding_length)
    , last_(1, h.embedding_length)
    , last_x_(1, h.embedding_length)
    , logits_(1, h.vocabulary)
{
    const std::size_t angles = std::size_t(max_rows) * std::size_t(h.rope_dimensions / 2);
    for (auto* table : {&cos_full_, &sin_full_, &cos_local_, &sin_local_})
        table->resize(angles);
}

std::size_t Decoder::scratch_bytes() const
{
    std::size_t bytes = (cos_full_.size() * 4 + q_scale_.size()) * sizeof(float);
    for (const Rows* rows :
         {&hidden_, &x_, &qkv_, &attended_, &gate_up_, &inner_, &branch_, &last_, &last_x_, &logits_})
        bytes += rows->bytes();
    return bytes;
}

/// What depends on positions: rotations, and the factor on the queries.
void Decoder::fill_positions(int first, int count)
{
    rope_table(rope_full_, first, count, cos_full_.data(), sin_full_.data());
    if (h_.architecture->local_rope_base > 0)
        rope_table(rope_local_, first, count, cos_local_.data(), sin_local_.data());
    for (int t = 0; t < count; ++t) {
        // Llama 4 and Mistral 3 sharpen attention with distance: 1 + scale * ln(1 + floor(position / original)).
        const double periods = std::floor(double(first + t) / std::max(1, h_.rope_scaling.original_context));
        const double temperature =
            h_.temperature_scale != 0.0f ? 1.0 + h_.temperature_scale * std::log1p(periods) : 1.0;
        q_scale_[std::size_t(t)] = float(h_.attention_scale * temperature);
    }
}

Rotation Decoder::rotation(LayerKind kind) const
{
    const bool local = kind == LayerKind::SlidingWindow && h_.architecture->local_rope_base > 0;
    return {(local ? cos_local_ : cos_full_).data(), (local ? sin_local_ : sin_full_).data(), h_.rope_dimensions / 2,
            h_.architecture->rope_neox};
}

void Decoder::append(const Placement& placement, KvCache& cache, KvSequence& sequence, std::span<const int> tokens)
{
    const Batch batch{placement, cache, sequence, sequence.length()};
    fill_positions(batch.first, int(tokens.size()));
    const float scale = h_.architecture->scale_embeddings ? std::sqrt(float(h_.embedding_length)) : 1.0f;
    placement.backend_of_ends().embed(weights_.token_embedding, tokens, scale, hidden_);
    for (int l = 0; l < int(weights_.layers.size()); ++l)
        layer(l, batch);
    sequence.ids.insert(sequence.ids.end(), tokens.begin(), tokens.end());
}

/// One transformer layer: hidden_ is read and updated in place.
void Decoder::layer(int l, const Batch& batch)
{
    Backend& on = batch.placement.backend_of(l);
    const LayerWeights& w = batch.placement.weights_of(l);

    on.rms_norm(hidden_, w.attn_norm, h_.rms_epsilon, x_);
    attention(l, batch);
    if (w.attn_post_norm)
        on.rms_norm(branch_, w.attn_post_norm, h_.rms_epsilon, branch_);
    on.add(branch_, hidden_);

    on.rms_norm(hidden_, w.ffn_norm, h_.rms_epsilon, x_);
    feed_forward(l, batch);
    if (w.ffn_post_norm)
        on.rms_norm(branch_, w.ffn_post_norm, h_.rms_epsilon, branch_);
    on.add(branch_, hidden_);
}

/// branch_ = attention of x_
void Decoder::attention(int l, const Batch& batch)
{
    Backend& on = batch.placement.backend_of(l);
    const LayerWeights& w = batch.placement.weights_of(l);
    const LayerKind kind = h_.layers[std::size_t(l)].kind;
    const HeadLayout heads = head_layout(h_, l);

    if (w.qkv) {
        const Product fused{&w.qkv, w.qkv_bias, 0};
        on.products(x_, std::span(&fused, 1), qkv_);
    } else {
        const std::array<Product, 3> apart{Product{&w.q, w.q_bias, 0}, Product{&w.k, w.k_bias, heads.k_col()},
                                           Product{&w.v, w.v_bias, heads.v_col()}};
        on.products(x_, apart, qkv_);
    }
    if (w.q_norm)
        on.norm_heads(qkv_, 0, heads.heads, heads.key_length, w.q_norm, h_.rms_epsilon);
    if (w.k_norm)
        on.norm_heads(qkv_, heads.k_col(), heads.kv_heads, heads.key_length, w.k_norm, h_.rms_epsilon);
    on.rope_heads(qkv_, 0, heads.heads + heads.kv_heads, heads.key_length, rotation(kind));

    on.store_kv(qkv_, heads, l, batch.cache, batch.sequence, batch.first);
    const int window = kind == LayerKind::SlidingWindow ? h_.sliding_window : 0;
    on.attend(qkv_, {heads, q_scale_.data(), h_.attention_softcap, window, w.sinks}, l, batch.cache, batch.sequence,
              batch.first, attended_);
    const Product out{&w.attn_out, w.attn_out_bias, 0};
    on.products(attended_, std::span(&out, 1), branch_);
}

/// branch_ = feed-forward part of x_
void Decoder::feed_forward(int l, const Batch& batch)
{
    Backend& on = batch.placement.backend_of(l);
    const LayerWeights& w = batch.placement.weights_of(l);
    if (w.router) {
        on.experts(x_, w, {h_.experts_used, h_.expert_weights_scale, h_.architecture->gate}, branch_);
        return;
    }
    if (w.gate) {
        const std::array<Product, 2> apart{Product{&w.gate, nullptr, 0}, Product{&w.up, nullptr, w.gate.rows}};
        on.products(x_, apart, gate_up_);
    } else {
        const Product fused{&w.up, nullptr, 0};
        on.products(x_, std::span(&fused, 1), gate_up_);
    }
    on.gated(h_.architecture->gate, gate_up_, inner_);
    const Product down{&w.down, nullptr, 0};
    on.products(inner_, std::span(&down, 1), branch_);
}

std::span<const float> Decoder::logits(const Placement& placement, int row)
{
    Backend& on = placement.backend_of_ends();
    last_.set_shape(1, hidden_.cols());
    std::memcpy(last_.row(0), hidden_.row(row), std::size_t(hidden_.cols()) * sizeof(float));
    on.rms_norm(last_, weights_.output_norm, h_.rms_epsilon, last_x_);
    const Product output{&weights_.output, nullptr, 0};
    on.products(last_x_, std::span(&output, 1), logits_);
    if (h_.final_softcap != 0.0f)
        on.soft_cap(h_.final_softcap, logits_);
    return {logits_.row(0), std::size_t(h_.vocabulary)};
}

}  // namespace engine
