// OutputHead computes the logits of a step's rows, where the head lies. It belongs to the decoder, on its thread; after
// construction it allocates nothing.
#pragma once

#include "engine/engine.h"
#include "engine/exec/residual_streams.h"

#include <optional>
#include <span>
#include <vector>

namespace engine {

class OutputHead
{
public:
    /// All arguments outlive it. `host`: the rows that the host computes in. `max_rows`: of a step. Throws
    /// std::bad_alloc.
    OutputHead(const Hyperparameters& h, const ResidualStreams& streams, Activations& host, int max_rows);
    std::size_t bytes() const { return together_.bytes(); }

    /// Begins a step; the logits that it wants may be asked for once it has been computed.
    void begin_step(std::span<const RowGroup> groups);
    /// Returns the logits, (vocabulary,), after one row of the step, whose rows are where `on` computes. Logits of
    /// several wanted rows are computed at once, so that the head's weights are read once for them. Valid until the
    /// next call.
    std::span<const float> logits(const HeadWeights& head, Backend& on, int row);
    /// Does the same, or returns only the `enough` largest, where a device finds them.
    RowLogits logits(const HeadWeights& head, Backend& on, int row, std::optional<int> enough);

private:
    /// Rows of logits where they were computed, and which row is asked for.
    struct Computed {
        const Rows& logits;
        int row = 0;
    };
    Computed compute(const HeadWeights& head, Backend& on, int row);
    Rows& rows_together(Backend& on);
    void compute_together(const HeadWeights& head, Backend& on, std::size_t first);
    void compute_alone(const HeadWeights& head, Backend& on, int row);
    void multiply(const HeadWeights& head, Backend& on, Rows& x, Rows& normed, Rows& logits);
    std::span<const float> fetch(Backend& on, const Computed& computed);

    const Hyperparameters& h_;
    const ResidualStreams& streams_;
    Activations& host_;
    std::vector<int> wanted_;         // rows of the step, ascending
    Rows together_;                   // (kMostRowsTogether, vocabulary) of some of them, on the host
    const Backend* there_ = nullptr;  // where logits of several rows of this step lie; null: nowhere yet
    std::size_t first_together_ = 0;  // index in wanted_ of the first of them
};

}  // namespace engine
