// ResidualStreams computes what a model with several residual streams does around the parts of its layers: AltUp
// (arXiv 2301.13310) with LAuReL (arXiv 2411.07501), or hyper-connections (arXiv 2409.19606) with embeddings of
// n-grams.
#pragma once

#include "engine/exec/backend.h"
#include "engine/exec/cpu_backend.h"

namespace engine {

/// Owned by the decoder, on its thread; has no data of its own. With AltUp a layer's parts read and change `hidden`,
/// which is the active stream; with hyper-connections they read mixtures, and their result is divided among the
/// streams.
class ResidualStreams
{
public:
    /// Parameters and weights outlive it.
    ResidualStreams(const Hyperparameters& h, const Weights& weights)
        : h_(h)
        , weights_(weights)
    {
    }
    bool several() const { return h_.streams.several(); }

    /// Norms rows of a residual stream; the next operation multiplies `out` with `reader`.
    void norm_rows(Rows& x, Vector weight, const Matrix& reader, Backend& on, Rows& out) const;
    /// Makes all streams from the tokens' embeddings, which are in `hidden`.
    void start(CpuBackend& host, Activations& to) const;
    /// With AltUp: hidden = the active stream as the layer predicts it. Else adds the layer's n-grams to all streams.
    void begin_layer(int l, const LayerWeights& w, const Step& step, Backend& on, Activations& a) const;
    /// Runs the layer's convolution over n-grams once more, for the drafted rows that are accepted. `state`: the
    /// layer's before them, which becomes the one after them.
    void convolve_again(int l, const NgramWeights& w, const RowGroup& group, float* state, Backend& on,
                        Activations& a) const;
    /// Joins the streams of one row into the head's input: `last`, which it norms, or `last_x`, which it multiplies.
    void join(const HeadWeights& head, int row, Backend& on, Activations& a) const;

    // AltUp.

    /// Adds to the active stream what attention reads, x, both itself and through two small products.
    void add_laurel(const LayerWeights& w, Rows& x, Backend& on, Activations& a) const;
    /// Spreads what the layer has changed in the active stream to all streams; x: what the side branch reads.
    void end_layer(const LayerWeights& w, Backend& on, Activations& a, Rows& x) const;
    /// Adds the result of the side branch, in `inner`, to all streams but the active one.
    void add_side(const LayerWeights& w, Backend& on, Activations& a) const;

    // Hyper-connections.

    /// out = the mixture of the streams that a part of a layer reads; stream_routes = each stream's share of its
    /// result.
    void mix(const StreamConnection& c, Rows& streams, Backend& on, Activations& a, Rows& out) const;

private:
    void route(const LayerWeights& w, Backend& on, Activations& a) const;
    void add_ngrams(int l, const NgramWeights& w, const Step& step, Backend& on, Activations& a) const;

    const Hyperparameters& h_;
    const Weights& weights_;
};

}  // namespace engine
