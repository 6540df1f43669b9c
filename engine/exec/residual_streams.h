// ResidualStreams computes what a model with several residual streams does around the parts of its layers: AltUp
// (arXiv 2301.13310) with LAuReL (arXiv 2411.07501).
#pragma once

#include "engine/exec/backend.h"
#include "engine/exec/cpu_backend.h"

namespace engine {

/// Owned by the decoder, on its thread; it keeps nothing. A layer's parts read and change `hidden`, which is the active
/// stream.
class ResidualStreams
{
public:
    /// Both outlive it.
    ResidualStreams(const Hyperparameters& h, const Weights& weights)
        : h_(h)
        , weights_(weights)
    {
    }
    bool several() const { return h_.streams.several(); }

    /// Makes all streams of the tokens' embeddings, which are in `hidden`.
    void start(CpuBackend& host, Activations& to) const;
    /// The active stream, as the layer predicts it.
    void begin_layer(const LayerWeights& w, Backend& on, Activations& a) const;
    /// The active stream also gets what attention reads, x, itself and through two small products.
    void add_laurel(const LayerWeights& w, Rows& x, Backend& on, Activations& a) const;
    /// What the layer has made of the active stream goes to all; x: what the side branch reads.
    void end_layer(const LayerWeights& w, Backend& on, Activations& a, Rows& x) const;
    /// What the side branch has made of it goes from `inner` to all streams but the active one.
    void add_side(const LayerWeights& w, Backend& on, Activations& a) const;
    /// out = what the head norms of one row.
    void join(const HeadWeights& head, int row, Backend& on, Activations& a, Rows& out) const;

private:
    void route(const LayerWeights& w, Backend& on, Activations& a) const;

    const Hyperparameters& h_;
    const Weights& weights_;
};

}  // namespace engine
