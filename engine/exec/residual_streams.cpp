#include "engine/exec/residual_streams.h"

#include <array>

namespace engine {

void ResidualStreams::norm_rows(Rows& x, Vector weight, const Matrix& reader, Backend& on, Rows& out) const
{
    if (h_.architecture->norm == NormKind::Layer)
        on.layer_norm(x, weight, h_.stream_epsilon, out);
    else
        on.rms_norm_before(reader, x, weight, h_.stream_epsilon, out);
}

void ResidualStreams::start(CpuBackend& host, Activations& to) const
{
    const int dim = h_.embedding_length, others = h_.streams.count - 1;
    if (h_.streams.connected)
        return host.cpu_streams().repeat(to.hidden, h_.streams.count, to.streams);
    std::array<Product, kMostStreams - 1> products;
    for (int s = 0; s < others; ++s)
        products[std::size_t(s)] = {&weights_.stream_in[std::size_t(s)], nullptr, (s + 1) * dim};
    host.products(to.hidden, std::span(products).first(std::size_t(others)), to.streams);
    host.cpu_streams().even_out(to.hidden, to.streams);
}

/// stream_routes = tanh of what the layer's router gives for the active stream
void ResidualStreams::route(const LayerWeights& w, Backend& on, Activations& a) const
{
    on.rms_norm(a.hidden, w.altup.router_norm, h_.rms_epsilon, a.x);
    const Product router{&w.altup.router, nullptr, 0};
    on.products(a.x, std::span(&router, 1), a.stream_routes);
    on.soft_cap(1.0f, a.stream_routes);
}

void ResidualStreams::begin_layer(int l, const LayerWeights& w, const Step& step, Backend& on, Activations& a) const
{
    if (w.ngrams.key)
        add_ngrams(l, w.ngrams, step, on, a);
    if (!w.altup.router)
        return;
    on.streams().take_first(a.streams, h_.embedding_length, a.hidden);
    route(w, on, a);
    on.streams().predict(a.stream_routes, w.altup.predict, a.streams, a.hidden);
}

void ResidualStreams::add_laurel(const LayerWeights& w, Rows& x, Backend& on, Activations& a) const
{
    const Product down{&w.altup.laurel_down, nullptr, 0}, up{&w.altup.laurel_up, nullptr, 0};
    on.products(x, std::span(&down, 1), a.low_rank);
    on.products(a.low_rank, std::span(&up, 1), a.branch);
    on.rms_norm(a.branch, w.altup.laurel_norm, h_.rms_epsilon, a.branch);
    on.add(x, a.branch);
    on.add(a.branch, a.hidden);
}

void ResidualStreams::end_layer(const LayerWeights& w, Backend& on, Activations& a, Rows& x) const
{
    route(w, on, a);
    on.streams().correct(a.stream_routes, w.altup.correct, a.hidden, w.altup.scale, a.streams, x);
}

void ResidualStreams::add_side(const LayerWeights& w, Backend& on, Activations& a) const
{
    const Product out{&w.side_out, nullptr, 0};
    on.products(a.inner, std::span(&out, 1), a.branch);
    on.rms_norm(a.branch, w.side_post_norm, h_.post_norm_epsilon, a.branch);
    on.streams().add_to_others(a.branch, a.streams);
}

void ResidualStreams::mix(const StreamConnection& c, Rows& streams, Backend& on, Activations& a, Rows& out) const
{
    const Product down{&c.down, nullptr, 0}, up{&c.up, nullptr, 0}, inject{&c.inject, nullptr, 0};
    const int wide = streams.cols();
    on.streams().norm(streams, h_.embedding_length, c.norm, h_.rms_epsilon, a.stream_norms);
    on.products(a.stream_norms, std::span(&down, 1), a.low_rank);
    on.gate_heads(a.low_rank, {0, 1, h_.streams.rank, h_.streams.rank}, a.low_rank);  // x * sigmoid(x): silu
    on.products(a.low_rank, std::span(&up, 1), a.stream_gates);
    if (c.inject)
        on.products(a.stream_norms, std::span(&inject, 1), a.stream_routes);
    on.gate_heads(a.stream_gates, {0, 1, wide, wide}, a.stream_norms);
    on.streams().mean(a.stream_norms, h_.embedding_length, out);
}

/// streams += for each stream what the n-grams that end at each token give it, and a convolution of that over tokens
void ResidualStreams::add_ngrams(int l, const NgramWeights& w, const Step& step, Backend& on, Activations& a) const
{
    const int dim = h_.embedding_length;
    const Product key{&w.key, nullptr, 0}, value{&w.value, nullptr, 0};
    Rows& keys = a.stream_gates;
    on.products(a.side, std::span(&key, 1), keys);
    on.products(a.side, std::span(&value, 1), a.branch);
    on.streams().norm(keys, dim, w.key_norm, h_.rms_epsilon, keys);
    on.streams().norm(a.streams, dim, w.query_norm, h_.rms_epsilon, a.stream_norms);
    on.streams().gate_ngrams(a.stream_norms, a.branch, keys);
    on.streams().norm(keys, dim, w.conv_norm, h_.rms_epsilon, a.stream_norms);
    for (const RowGroup& group : step.groups) {
        a.drafted.keep(group, a.stream_norms, a.drafted.ngrams(l), on);
        float* const history = step.cache.states().layer(group.sequence->state, l) + h_.mixer_floats(l);
        on.streams().convolve(w.taps, h_.ngrams.spread_taps(), history, {group.row, group.count()}, a.stream_norms);
    }
    on.add(keys, a.streams);
    on.add(a.stream_norms, a.streams);
}

void ResidualStreams::convolve_again(int l, const NgramWeights& w, const RowGroup& group, float* state, Backend& on,
                                     Activations& a) const
{
    Rows& kept = a.drafted.ngrams(l);
    kept.set_shape(group.drafted_row + group.count(), kept.cols());
    on.streams().convolve(w.taps, h_.ngrams.spread_taps(), state + h_.mixer_floats(l),
                          {group.drafted_row, group.count()}, kept);
}

void ResidualStreams::join(const HeadWeights& head, int row, Backend& on, Activations& a) const
{
    const int dim = h_.embedding_length;
    if (h_.streams.connected) {
        on.copy_row(a.streams, row, a.last_streams);
        return mix(head.streams, a.last_streams, on, a, a.last_x);
    }
    // Each product goes to its stream's place in the one row.
    for (int s = 1; s < h_.streams.count; ++s) {
        on.streams().take(a.streams, row, s, dim, a.last_x);
        const Product from{&head.stream_out[std::size_t(s - 1)], nullptr, s * dim};
        on.products(a.last_x, std::span(&from, 1), a.last_streams);
    }
    on.streams().take(a.streams, row, 0, dim, a.last);
    on.streams().join(a.last_streams, a.last);
}

}  // namespace engine
