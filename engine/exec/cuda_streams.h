// CudaStreams queues the operations of residual streams on a GPU.
#pragma once

#include "engine/exec/cuda_calls.h"
#include "engine/exec/stream_operations.h"

namespace engine {

/// Owned by a GPU's backend, on its thread. Has no data of its own.
class CudaStreams final : public StreamOperations
{
public:
    /// Says whether there are kernels for these n-grams. Unsupported: the sentence says for what there is none.
    static Status supports(const NgramParameters& ngrams);

    /// `calls` outlives it.
    explicit CudaStreams(CudaCalls& calls)
        : calls_(calls)
    {
    }

    void take(const Rows& streams, int row, int s, int dim, Rows& out) override;
    void take_first(const Rows& streams, int dim, Rows& out) override;
    void predict(const Rows& routed, Vector coefficients, Rows& streams, Rows& active) override;
    void correct(const Rows& routed, Vector coefficients, const Rows& active, Vector weight, Rows& streams,
                 Rows& first) override;
    void add_to_others(const Rows& y, Rows& streams) override;
    void join(const Rows& streams, Rows& first) override;
    void norm(Rows& x, int dim, Vector weight, float epsilon, Rows& out) override;
    void mean(const Rows& streams, int dim, Rows& out) override;
    void inject(const Rows& shares, const Rows& y, Rows& streams) override;
    void gate_ngrams(const Rows& queries, const Rows& values, Rows& keys) override;
    void convolve(Vector taps, int width, float* history, RowRange of, Rows& x) override;

private:
    CudaCalls& calls_;
};

}  // namespace engine
