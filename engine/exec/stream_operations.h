// StreamOperations declares the operations of backends on the residual streams of models that have several. The streams
// of a row follow each other: (rows, streams * dim); layers read the first one.
#pragma once

#include "engine/exec/recurrent_parameters.h"
#include "engine/exec/rows.h"
#include "engine/model/weights.h"

namespace engine {

class StreamOperations
{
public:
    virtual ~StreamOperations() = default;

    /// Copies stream s of one row of `streams`. out: (1, dim)
    virtual void take(const Rows& streams, int row, int s, int dim, Rows& out) = 0;
    /// Copies the first stream of each row. out: (rows, dim)
    virtual void take_first(const Rows& streams, int dim, Rows& out) = 0;

    // AltUp (arXiv 2301.13310). routed: (rows, streams)

    /// streams[to] += sum over `from` of (coefficients routed)[to][from] * streams[from]; then active, (rows, dim) =
    /// the first stream. coefficients: (streams * streams, streams)
    virtual void predict(const Rows& routed, Vector coefficients, Rows& streams, Rows& active) = 0;
    /// Spreads a layer's change of the active stream to all streams:
    ///   streams[to] += (active - streams[0]) * (1 + (coefficients routed)[to]);
    /// then first = streams[0] * weight. coefficients: (streams, streams); weight: (dim,); first: (rows, dim)
    virtual void correct(const Rows& routed, Vector coefficients, const Rows& active, Vector weight, Rows& streams,
                         Rows& first) = 0;
    /// streams[s] += y for all but the first. y: (rows, dim)
    virtual void add_to_others(const Rows& y, Rows& streams) = 0;
    /// first, (rows, dim) = the mean of itself and the other streams, each of which is first brought to its length.
    virtual void join(const Rows& streams, Rows& first) = 0;

    // Hyper-connections (arXiv 2409.19606).

    /// Norms each stream of each row by itself. weight: (streams * dim,); out may be x
    virtual void norm(Rows& x, int dim, Vector weight, float epsilon, Rows& out) = 0;
    /// out, (rows, dim) = the mean of the streams.
    virtual void mean(const Rows& streams, int dim, Rows& out) = 0;
    /// streams[s] += 2 sigmoid(shares[s]) * y. shares: (rows, streams); y: (rows, dim)
    virtual void inject(const Rows& shares, const Rows& y, Rows& streams) = 0;

    // Embeddings of n-grams: (rows, streams * dim).

    /// keys[s] = sigmoid(root(keys[s] . queries[s] / sqrt(dim))) * values, root(x) = sign(x) sqrt(max(|x|, 1e-6)).
    /// values: (rows, dim)
    virtual void gate_ngrams(const Rows& queries, const Rows& values, Rows& keys) = 0;
    /// x = silu of a causal convolution of each channel by itself, for one sequence's rows. taps: (width, channels),
    /// oldest first; history: (width - 1, channels), the last inputs, which become those of these rows
    virtual void convolve(Vector taps, int width, float* history, RowRange rows, Rows& x) = 0;
};

}  // namespace engine
