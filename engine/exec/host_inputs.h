// HostInputs makes on the host what the layers of a step read: the tokens' embeddings, the tables that depend on their
// positions, and each layer's own input of each token.
#pragma once

#include "engine/exec/cpu_backend.h"
#include "engine/exec/ngrams.h"
#include "engine/model/rope.h"
#include "engine/model/weights.h"

#include <cstddef>
#include <vector>

namespace engine {

/// Owned by the decoder, on its thread; after construction it allocates nothing.
class HostInputs
{
public:
    /// Model and weights outlive it. `context_tokens`: the context in use. `max_rows`: tokens of a batch. Throws
    /// std::bad_alloc.
    HostInputs(const Hyperparameters& h, const Weights& weights, int context_tokens, int max_rows);
    std::size_t bytes() const { return projected_.bytes(); }

    /// Fills hidden, side and tables of `to`, for tokens that are to follow those of their sequences.
    void make(CpuBackend& host, const Step& step, Activations& to);

private:
    void fill_positions(const RowGroup& group, PositionTables& tables) const;
    void make_side(CpuBackend& host, Activations& to);

    const Hyperparameters& h_;
    const Weights& weights_;
    RopeFrequencies rope_full_, rope_local_;
    std::vector<int> tokens_;  // (rows,) of the step
    Rows projected_;           // (rows, layers * side): the embedding's half of each layer's own input
    Ngrams ngrams_;
};

}  // namespace engine
