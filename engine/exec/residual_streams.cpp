#include "engine/exec/residual_streams.h"

#include <array>

namespace engine {

void ResidualStreams::start(CpuBackend& host, Activations& to) const
{
    const int dim = h_.embedding_length, others = h_.streams.count - 1;
    std::array<Product, kMostStreams - 1> products;
    for (int s = 0; s < others; ++s)
        products[std::size_t(s)] = {&weights_.stream_in[std::size_t(s)], nullptr, (s + 1) * dim};
    host.products(to.hidden, std::span(products).first(std::size_t(others)), to.streams);
    host.cpu_streams().even_out(to.hidden, to.streams);
}

/// routed = tanh of what the layer's router says of the active stream
void ResidualStreams::route(const LayerWeights& w, Backend& on, Activations& a) const
{
    on.rms_norm(a.hidden, w.altup.router_norm, h_.rms_epsilon, a.x);
    const Product router{&w.altup.router, nullptr, 0};
    on.products(a.x, std::span(&router, 1), a.stream_routes);
    on.soft_cap(1.0f, a.stream_routes);
}

void ResidualStreams::begin_layer(const LayerWeights& w, Backend& on, Activations& a) const
{
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

void ResidualStreams::join(const HeadWeights& head, int row, Backend& on, Activations& a, Rows& out) const
{
    const int dim = h_.embedding_length;
    // Each product goes to its stream's place in the one row.
    for (int s = 1; s < h_.streams.count; ++s) {
        on.streams().take(a.streams, row, s, dim, a.last_x);
        const Product from{&head.stream_out[std::size_t(s - 1)], nullptr, s * dim};
        on.products(a.last_x, std::span(&from, 1), a.last_streams);
    }
    on.streams().take(a.streams, row, 0, dim, out);
    on.streams().join(a.last_streams, out);
}

}  // namespace engine
