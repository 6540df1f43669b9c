#include "engine/exec/decoder.h"

#include "engine/exec/latent_attention.h"
#include "engine/exec/recurrent_mixers.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <utility>

namespace engine {

namespace {

using Part = StepClock::Part;

// These return the matrix that first multiplies the input of a layer's mixers, and of its feed-forward part.

const Matrix& mixers_reader(const LayerWeights& w)
{
    if (w.qkv)
        return w.qkv;
    if (w.q)
        return w.q_low ? w.q_low : w.q;
    return w.mix_in ? w.mix_in : w.attn_out;
}

/// Returns the products that give queries, keys, values and gates.
std::span<const Product> projections(const LayerWeights& w, const HeadLayout& heads, std::array<Product, 4>& products)
{
    std::size_t count = 0;
    if (w.qkv) {
        products[count++] = {&w.qkv, w.qkv_bias, 0};
    } else {
        products[count++] = {&w.q, w.q_bias, heads.projected_q_col()};
        if (w.k)  // without k it reads the keys and values of another layer
            products[count++] = {&w.k, w.k_bias, heads.k_col()};
        if (w.k)
            products[count++] = {w.v ? &w.v : &w.k, w.v_bias, heads.v_col()};
    }
    if (w.attn_gate)
        products[count++] = {&w.attn_gate, nullptr, heads.gate_col()};
    return std::span(products).first(count);
}

const Matrix& feed_forward_reader(const LayerWeights& w)
{
    if (w.router && !w.experts_norm)
        return w.latent_down ? w.latent_down : w.up_experts;
    return w.gate ? w.gate : w.up;
}

/// Returns the matrix that the feed-forward part reads first. Where a router chooses among experts, it is the router's.
const Matrix& feed_forward_begins_with(const LayerWeights& w)
{
    return w.router && !w.experts_norm ? w.router : feed_forward_reader(w);
}

}  // namespace

Decoder::Decoder(const Hyperparameters& h, const Weights& weights, int context_tokens, int max_rows)
    : h_(h)
    , weights_(weights)
    , max_rows_(max_rows)
    , inputs_(h, weights, context_tokens, max_rows)
    , streams_(h, weights)
    , host_(h, max_rows, host_row_memory())
    , head_(h, streams_, host_, max_rows)
    , given_(weights.mtp_input.projection ? max_rows : 0, h.embedding_length)
    , joined_(weights.mtp_input.projection ? max_rows : 0, 2 * h.embedding_length)
{
}

void Decoder::append(const Placement& placement, const Step& step)
{
    head_.begin_step(step.groups);
    copied_home_ = false;
    inputs_.make(placement.host(), step, host_);
    if (weights_.mtp_input.projection)
        join_given(placement.host());
    if (streams_.several())
        streams_.start(placement.host(), host_);
    rows_at_ = &placement.host();
    for (LayerRange range; range.last < int(weights_.layers.size());) {
        range = placement.range_from(range.last);
        Backend& on = placement.backend_of(range.first);
        bring_rows(on, step);
        // One reference fits the function itself: nothing is allocated.
        const auto layers = [&, at = LayerSite{on, activations(on), step}] {
            normed_ = nullptr;
            for (int l = range.first; l < range.last;) {
                const LayerOn side = step.layer_on(l);  // an emulated device and the host are one backend
                const StepClock::Scope scope(step.clock,
                                             side == LayerOn::Device ? Part::DeviceLayers : Part::HostLayers);
                if (side == LayerOn::Host && l == step.device_layers)
                    bring_shared_kv_home(step);
                for (; l < range.last && step.layer_on(l) == side; ++l) {
                    // What a device is given may be recorded, and a recording has to be whole.
                    if (on.memory_space() == MemorySpace::Host && given_up(step.groups))
                        return;
                    const bool goes_on = l + 1 < range.last && step.layer_on(l + 1) == side;
                    layer(l, placement.weights_of(l), goes_on ? &placement.weights_of(l + 1) : nullptr, at);
                }
            }
        };
        const StepClock::Scope scope(step.clock,
                                     on.memory_space() == MemorySpace::Device ? Part::DeviceLayers : Part::Rest);
        on.run_layers(range, std::cref(layers));
    }
    for (const RowGroup& group : step.groups)
        group.sequence->ids.insert(group.sequence->ids.end(), group.tokens.begin(), group.tokens.end());
}

/// hidden = projection [norm of the tokens' embeddings, in hidden; norm of given]: what the block's layer reads.
void Decoder::join_given(CpuBackend& host)
{
    const int dim = h_.embedding_length, rows = host_.hidden.count();
    const MtpInput& w = weights_.mtp_input;
    joined_.set_shape(rows, 2 * dim);
    for (int r = 0; r < rows; ++r) {
        std::copy_n(host_.hidden.row(r), dim, joined_.row(r));
        std::copy_n(given_.row(r), dim, joined_.row(r) + dim);
    }
    host.norm_heads(joined_, {0, 1, dim, dim}, w.embedding_norm, h_.rms_epsilon, 0);
    host.norm_heads(joined_, {dim, 1, dim, dim}, w.hidden_norm, h_.rms_epsilon, dim);
    const Product projection{&w.projection, nullptr, 0};
    host.products(joined_, std::span(&projection, 1), host_.hidden);
}

void Decoder::made_of(const Placement& placement, RowRange rows, std::span<float> out)
{
    const auto dim = std::size_t(h_.embedding_length);
    if (rows_at_->memory_space() == MemorySpace::Device && !std::exchange(copied_home_, true))
        rows_at_->fetch(activations(*rows_at_).hidden, {}, host_.hidden);
    host_.x.set_shape(rows.count, int(dim));
    for (int r = 0; r < rows.count; ++r)
        std::copy_n(host_.hidden.row(rows.first + r), dim, host_.x.row(r));
    streams_.norm_rows(host_.x, weights_.head.norm, weights_.head.output, placement.host(), host_.x);
    std::copy_n(host_.x.row(0), std::size_t(rows.count) * dim, out.begin());
}

/// Brings to the host the keys and values that device layers have just written and host layers read.
void Decoder::bring_shared_kv_home(const Step& step)
{
    const auto on_host = std::span(h_.layers).subspan(std::size_t(step.device_layers));
    for (int source = 0; source < step.device_layers; ++source)
        if (std::ranges::find(on_host, source, &LayerParameters::kv_source) != on_host.end())
            for (const RowGroup& group : step.groups)
                step.cache.bring_home(*group.sequence, source, group.first, group.count());
}

/// Brings the residual stream to where the next layer computes.
void Decoder::bring_rows(Backend& to, const Step& step)
{
    if (&to == rows_at_)
        return;
    const StepClock::Scope waiting(step.clock, Part::DeviceLayers);
    if (to.memory_space() == MemorySpace::Device)
        to.enter(step, host_);
    else
        rows_at_->fetch(activations(*rows_at_).carried(), {}, host_.carried());
    rows_at_ = &to;
}

/// Keeps the recurrent states as they were before the drafted rows, since some of these may be rejected.
void Decoder::keep_states(int l, const LayerSite& at)
{
    const RecurrentStates& states = at.step.cache.states();
    const auto floats = std::size_t(h_.state_floats(l));
    for (const RowGroup& group : at.step.groups)
        if (floats > 0 && group.drafted_row >= 0)
            at.on.copy(states.layer(group.sequence->state, l), states.layer_before(*group.sequence, l), floats);
}

void Decoder::take_states_back(const Placement& placement, const Step& step)
{
    const RowGroup& group = step.one();
    const RecurrentStates& states = step.cache.states();
    for (int l = 0; l < int(h_.layers.size()); ++l) {
        const auto floats = std::size_t(h_.state_floats(l));
        if (floats == 0)
            continue;
        const StepClock::Scope scope(step.clock,
                                     step.layer_on(l) == LayerOn::Device ? Part::DeviceLayers : Part::HostLayers);
        Backend& on = placement.backend_of(l);
        const LayerWeights& w = placement.weights_of(l);
        float* const state = states.layer(group.sequence->state, l);
        on.copy(states.layer_before(*group.sequence, l), state, floats);
        if (w.ngrams.key)
            streams_.convolve_again(l, w.ngrams, group, state, on, activations(on));
        if (is_recurrent(h_.layers[std::size_t(l)].mixer))
            mix_again(h_, l, w, group, state, on, activations(on));
    }
}

/// One transformer layer: the residual stream is read and updated in place. `next`: the layer that follows at the same
/// place; null: none does
void Decoder::layer(int l, const LayerWeights& w, const LayerWeights* next, const LayerSite& at)
{
    auto& [on, a, step] = at;
    const LayerParameters& parameters = h_.layers[std::size_t(l)];
    Rows* x = nullptr;
    keep_states(l, at);
    if (streams_.several())
        streams_.begin_layer(l, w, step, on, a);
    if (parameters.mixer != Mixer::None) {
        x = &part_input(w.attn_norm, w.attn_streams, mixers_reader(w), at);
        if (w.altup.laurel_down)
            streams_.add_laurel(w, *x, on, a);
        mix(l, w, next, *x, at);
        if (w.altup.laurel_down)
            on.scale(std::sqrt(0.5f), a.hidden);
    }
    if (!parameters.feed_forward)
        return;
    Rows& y = x && h_.architecture->branches == Branches::Parallel
                  ? *x
                  : part_input(w.ffn_norm, w.ffn_streams, feed_forward_reader(w), at);
    if (w.router && w.experts_norm) {
        feed_forward_beside_experts(l, w, y, at);
    } else if (w.router) {
        experts(l, w, y, at);
        add_normed(w.ffn_post_norm, at);
    } else {
        feed_forward(w, y, w.down, at);
        add_branch(a.inner, {&w.down, w.down_bias, 0}, w.ffn_post_norm, norm_behind_layer(l, w, next), at);
    }
    if (w.altup.router)
        streams_.end_layer(w, on, a, a.x);
    if (w.side_gate)
        side_branch(l, w, w.altup.router ? a.x : a.hidden, at);
    if (w.output_scale != 1.0f)
        on.scale(w.output_scale, a.hidden);
}

/// hidden += the dense feed-forward part of x and the experts' part, each with norms of its own.
void Decoder::feed_forward_beside_experts(int l, const LayerWeights& w, Rows& x, const LayerSite& at)
{
    auto& [on, a, step] = at;
    feed_forward(w, x, w.down, at);
    const Product down{&w.down, w.down_bias, 0};
    on.products(a.inner, std::span(&down, 1), a.branch);
    on.rms_norm(a.branch, w.dense_post_norm, h_.rms_epsilon, a.branch);

    on.rms_norm(a.hidden, w.router_norm, h_.rms_epsilon, a.routed);
    on.rms_norm(a.hidden, w.experts_norm, h_.rms_epsilon, a.x);
    on.experts(a.x, w, expert_parameters(l, step, &a.routed), a.beside);
    on.rms_norm(a.beside, w.experts_post_norm, h_.rms_epsilon, a.beside);
    on.add(a.beside, a.branch);
    add_normed(w.ffn_post_norm, at);
}

ExpertParameters Decoder::expert_parameters(int l, const Step& step, Rows* routed_by) const
{
    return {.used = h_.experts_used,
            .weights_scale = h_.expert_weights_scale,
            .gate = h_.architecture->gate,
            .scores = h_.router_scores,
            .weights = h_.expert_weights,
            .weighs = h_.architecture->expert_weighs,
            .routed_by = routed_by,
            .groups = h_.expert_groups,
            .groups_used = h_.expert_groups_used,
            .tokens = step.groups,
            .layer = l};
}

/// hidden, or streams, += what the layer makes of x and of its side input
void Decoder::side_branch(int l, const LayerWeights& w, Rows& x, const LayerSite& at)
{
    auto& [on, a, step] = at;
    const Product gate{&w.side_gate, nullptr, 0};
    on.products(x, std::span(&gate, 1), a.gate_up);
    on.gated_by(h_.architecture->gate, a.gate_up, a.side, l * h_.side_length, a.inner);
    if (streams_.several())
        return streams_.add_side(w, on, a);
    add_branch(a.inner, {&w.side_out, nullptr, 0}, w.side_post_norm, {}, at);
}

/// Returns what attention or the feed-forward part reads: the residual stream, normed where there is a norm; or the
/// mixture of several streams. `reader`: the matrix that multiplies it first.
Rows& Decoder::part_input(Vector norm, const StreamConnection& streams, const Matrix& reader, const LayerSite& at)
{
    auto& [on, a, step] = at;
    if (streams.norm) {
        streams_.mix(streams, a.streams, on, a, a.x);
        return a.x;
    }
    if (!norm)
        return a.hidden;
    if (std::exchange(normed_, nullptr) == norm)
        return a.x;
    streams_.norm_rows(a.hidden, norm, reader, on, a.x);
    return a.x;
}

/// Returns the norm that reads the residual stream next once all of layer l has been added to it; none where something
/// else comes between. `next`: the weights of the layer that follows at the same place, or null
FollowingNorm Decoder::norm_behind_layer(int l, const LayerWeights& w, const LayerWeights* next) const
{
    if (!next || w.altup.router || w.side_gate || w.output_scale != 1.0f)
        return {};
    if (h_.layers[std::size_t(l + 1)].mixer == Mixer::None)
        return following(next->ffn_norm, next->ffn_streams, feed_forward_reader(*next),
                         feed_forward_begins_with(*next));
    return following(next->attn_norm, next->attn_streams, mixers_reader(*next), mixers_reader(*next));
}

/// Returns the same for once the layer's mixers have been added.
FollowingNorm Decoder::norm_behind_mixers(int l, const LayerWeights& w, const LayerWeights* next) const
{
    if (w.altup.laurel_down)
        return {};
    if (!h_.layers[std::size_t(l)].feed_forward)
        return norm_behind_layer(l, w, next);
    return h_.architecture->branches == Branches::Parallel
               ? FollowingNorm()
               : following(w.ffn_norm, w.ffn_streams, feed_forward_reader(w), feed_forward_begins_with(w));
}

/// Returns the norm for add_branch(); none where there is no norm, or one that is not RMSNorm of the one residual
/// stream.
FollowingNorm Decoder::following(Vector norm, const StreamConnection& streams, const Matrix& reader,
                                 const Matrix& next) const
{
    if (streams.norm || streams_.several() || h_.architecture->norm == NormKind::Layer)
        return {};
    return {norm, h_.stream_epsilon, &reader, &next};
}

/// hidden += product of y, normed first where the architecture does that. `norm`: the norm of hidden that follows, or
/// none
void Decoder::add_branch(Rows& y, const Product& product, Vector post_norm, const FollowingNorm& norm,
                         const LayerSite& at)
{
    auto& [on, a, step] = at;
    if (!post_norm && !h_.streams.connected) {
        if (norm.weight)
            on.add_product_and_norm(y, product, a.branch, a.hidden, norm, a.x);
        else
            on.add_product(y, product, a.branch, a.hidden);
        normed_ = norm.weight;
        return;
    }
    on.products(y, std::span(&product, 1), a.branch);
    add_normed(post_norm, at);
}

/// hidden, or each stream's share of it, += branch
void Decoder::add_normed(Vector post_norm, const LayerSite& at)
{
    auto& [on, a, step] = at;
    if (post_norm)
        on.rms_norm(a.branch, post_norm, h_.post_norm_epsilon, a.branch);
    if (h_.streams.connected)
        on.streams().inject(a.stream_routes, a.branch, a.streams);
    else
        on.add(a.branch, a.hidden);
}

/// hidden += what the layer's mixers make of x
void Decoder::mix(int l, const LayerWeights& w, const LayerWeights* next, Rows& x, const LayerSite& at)
{
    const Mixer mixer = h_.layers[std::size_t(l)].mixer;
    const FollowingNorm norm = norm_behind_mixers(l, w, next);
    Rows& mixed = at.a.attended;
    if (attends(mixer)) {
        h_.latent ? attend_latent(l, w, x, at) : attention(l, w, x, at);
        add_branch(mixed, {&w.attn_out, w.attn_out_bias, 0}, w.attn_post_norm,
                   is_recurrent(mixer) ? FollowingNorm() : norm, at);
    }
    if (mixer == Mixer::Matrix)  // a norm that follows goes to x, which the product reads: it comes by itself
        add_branch(x, {&w.attn_out, nullptr, 0}, w.attn_post_norm, {}, at);
    if (is_recurrent(mixer)) {
        mix_recurrent(h_, l, w, x, at.step, at.on, at.a);
        add_branch(mixed, {&w.mix_out, nullptr, 0}, nullptr, norm, at);
    }
}

/// attended = attention of x
void Decoder::attention(int l, const LayerWeights& w, Rows& x, const LayerSite& at)
{
    auto& [on, a, step] = at;
    const LayerParameters& parameters = h_.layers[std::size_t(l)];
    const HeadLayout heads = head_layout(h_, parameters);
    const Rotation rotation = a.tables.rotation(parameters.kind);
    std::array<Product, 4> products;
    on.project_heads(x, projections(w, heads, products), a.qkv,
                     {.heads = heads,
                      .q_norm = w.q_norm,
                      .k_norm = w.k_norm,
                      .v_norm = w.v_norm,
                      .norm = h_.architecture->qk_norm,
                      .epsilon = h_.rms_epsilon,
                      .rotation = parameters.rope ? &rotation : nullptr,
                      .own_kv = parameters.kv_source < 0},
                     l, step);
    attend(l, w, heads, a.attended, at);
    if (heads.gate != AttentionGate::None)
        on.gate_heads(a.qkv, {heads.gate_col(), heads.heads, heads.value_length, heads.gate_stride()}, a.attended);
}

/// attended = latent attention of x
void Decoder::attend_latent(int l, const LayerWeights& w, Rows& x, const LayerSite& at)
{
    const LayerParameters& parameters = h_.layers[std::size_t(l)];
    const HeadLayout heads = head_layout(h_, parameters);
    make_latent_queries(h_, w, heads, at.a.tables.rotation(parameters.kind), x, at.on, at.a);
    if (parameters.kv_source < 0)
        at.on.store_kv(at.a.qkv, heads, l, at.step);
    attend(l, w, heads, at.a.latent_heads, at);
    make_values_of_latent(h_.latent, w, heads, at.on, at.a);
}

/// Attends with the layer's queries, and gates the result where the model does that.
void Decoder::attend(int l, const LayerWeights& w, const HeadLayout& heads, Rows& out, const LayerSite& at)
{
    auto& [on, a, step] = at;
    const LayerParameters& parameters = h_.layers[std::size_t(l)];
    on.attend(a.qkv,
              {.heads = heads,
               .q_scale = a.tables.q_scale(parameters.kind),
               .softcap = h_.attention_softcap,
               .window = parameters.kind == LayerKind::SlidingWindow ? h_.sliding_window : 0,
               .sinks = w.sinks,
               .window_kind = h_.architecture->window,
               .layer_kind = parameters.kind,
               .reader = h_.latent || heads.gate != AttentionGate::None ? nullptr : &w.attn_out},
              l, step, out);
}

/// branch = the experts of x, and the one that all rows share
void Decoder::experts(int l, const LayerWeights& w, Rows& x, const LayerSite& at)
{
    auto& [on, a, step] = at;
    if (w.latent_down) {
        const Product down{&w.latent_down, nullptr, 0}, up{&w.latent_up, nullptr, 0};
        on.products(x, std::span(&down, 1), a.expert_in);
        on.experts(a.expert_in, w, expert_parameters(l, step, &x), a.expert_sum);
        on.products(a.expert_sum, std::span(&up, 1), a.branch);
    } else {
        on.experts(x, w, expert_parameters(l, step, nullptr), a.branch);
    }
    if (!w.down)
        return;
    feed_forward(w, x, w.shared_weight ? Matrix() : w.down, at);
    if (w.shared_weight) {
        const Product weight{&w.shared_weight, nullptr, 0};
        on.products(x, std::span(&weight, 1), a.weight);
        on.weigh_rows(a.weight, a.inner);
    }
    on.add_product(a.inner, {&w.down, w.down_bias, 0}, a.x, a.branch);  // nobody reads x any more
}

/// inner = gate times up of x. `reader`: the matrix that multiplies it next, or an empty one
void Decoder::feed_forward(const LayerWeights& w, Rows& x, const Matrix& reader, const LayerSite& at)
{
    auto& [on, a, step] = at;
    const Gate gate = h_.architecture->gate;
    if (w.gate) {
        const std::array<Product, 2> apart{Product{&w.gate, w.gate_bias, 0}, Product{&w.up, w.up_bias, w.gate.rows}};
        if (w.gate_deviations == 0.0f)
            return on.gated_products(x, apart, gate, reader, a.gate_up, a.inner);
        on.products(x, apart, a.gate_up);
        on.keep_above(w.gate_deviations, w.gate.rows, a.gate_up);
        return on.gated(gate, a.gate_up, a.inner);
    }
    const Product up{&w.up, w.up_bias, 0};
    if (!has_gate(gate)) {
        on.products(x, std::span(&up, 1), a.gate_up);
        on.gated_by(gate, a.gate_up, a.gate_up, 0, a.inner);
    } else {
        on.gated_products(x, std::span(&up, 1), gate, reader, a.gate_up, a.inner);  // gate and up in one matrix
    }
}

Part Decoder::head_part(const Placement& placement) const
{
    return placement.head_on_host() ? Part::HostLayers : Part::DeviceLayers;
}

/// Returns the head's backend, and brings the rows there: the head lies on a device only where the last layer does.
Backend& Decoder::bring_rows_to_head(const Placement& placement, StepClock& clock)
{
    Backend& on = placement.backend_of_head();
    if (&on != rows_at_) {
        const StepClock::Scope waiting(clock, Part::DeviceLayers);
        rows_at_->fetch(activations(*rows_at_).carried(), {}, host_.carried());
        rows_at_ = &on;
    }
    return on;
}

std::span<const float> Decoder::logits(const Placement& placement, StepClock& clock, int row)
{
    const StepClock::Scope scope(clock, head_part(placement));
    return head_.logits(placement.head(), bring_rows_to_head(placement, clock), row);
}

RowLogits Decoder::logits(const Placement& placement, StepClock& clock, int row, std::optional<int> enough)
{
    const StepClock::Scope scope(clock, head_part(placement));
    return head_.logits(placement.head(), bring_rows_to_head(placement, clock), row, enough);
}

}  // namespace engine
