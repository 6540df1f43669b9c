// StreamOperations declares what backends do with the residual streams of models that have several. The streams of a
// row follow each other: (rows, streams * dim); the first is the one that layers read.
#pragma once

#include "engine/exec/recurrent_parameters.h"
#include "engine/exec/rows.h"
#include "engine/model/weights.h"

namespace engine {

class StreamOperations
{
public:
    virtual ~StreamOperations() = default;

    /// Stream s of one row of `streams`. out: (1, dim)
    virtual void take(const Rows& streams, int row, int s, int dim, Rows& out) = 0;
    /// The first stream of each row. out: (rows, dim)
    virtual void take_first(const Rows& streams, int dim, Rows& out) = 0;

    // AltUp (arXiv 2301.13310). routed: (rows, streams)

    /// streams[to] += sum over `from` of (coefficients routed)[to][from] * streams[from]; active: (rows, dim), the
    /// first of them then. coefficients: (streams * streams, streams)
    virtual void predict(const Rows& routed, Vector coefficients, Rows& streams, Rows& active) = 0;
    /// What a layer has changed of the active stream goes to all:
    ///   streams[to] += (active - streams[0]) * (1 + (coefficients routed)[to])
    /// and first = streams[0] * weight then. coefficients: (streams, streams); weight: (dim,); first: (rows, dim)
    virtual void correct(const Rows& routed, Vector coefficients, const Rows& active, Vector weight, Rows& streams,
                         Rows& first) = 0;
    /// streams[s] += y for all but the first. y: (rows, dim)
    virtual void add_to_others(const Rows& y, Rows& streams) = 0;
    /// first, (rows, dim) = the mean of it and the other streams, each of which is brought to its length before.
    virtual void join(const Rows& streams, Rows& first) = 0;

    // Hyper-connections (arXiv 2409.19606).

    /// Norms each stream of each row by itself. weight: (streams * dim,); out may be x
    virtual void norm(Rows& x, int dim, Vector weight, float epsilon, Rows& out) = 0;
    /// out, (rows, dim) = the mean of the streams.
    virtual void mean(const Rows& streams, int dim, Rows& out) = 0;
    /// streams[s] += 2 sigmoid(shares[s]) * y. shares: (rows, streams); y: (rows, dim)
    virtual void inject(const Rows& shares, const Rows& y, Rows& streams) = 0;

    // Embeddings of n-grams. What comes of them is (rows, streams * dim).

    /// keys[s] = sigmoid(root(keys[s] . queries[s] / sqrt(dim))) * values, root(x) = sign(x) sqrt(max(|x|, 1e-6)).
    /// values: (rows, dim)
    virtual void gate_ngrams(const Rows& queries, const Rows& values, Rows& keys) = 0;
    /// x = silu of a causal convolution of each channel by itself, for one sequence's rows. taps: (width, channels),
    /// oldest first; history: (width - 1, channels), the last inputs, which moves on
    virtual void convolve(Vector taps, int width, float* history, RowRange rows, Rows& x) = 0;
};

}  // namespace engine
