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
    /// All outlive it. `host`: what the host computes in. `max_rows`: of a step. Throws std::bad_alloc.
    OutputHead(const Hyperparameters& h, const ResidualStreams& streams, Activations& host, int max_rows);
    std::size_t bytes() const { return together_.bytes(); }

    /// A step begins; what it wants may be asked for when it has been computed.
    void begin_step(std::span<const RowGroup> groups);
    /// Logits (vocabulary,) after one row of the step, whose rows are where `on` computes. They are computed for
    /// several of the rows that are wanted at once, since that reads the head's weights once for them. Valid until the
    /// next call.
    std::span<const float> logits(const HeadWeights& head, Backend& on, int row);
    /// The same, or as many of the largest as are enough, where a device finds them.
    RowLogits logits(const HeadWeights& head, Backend& on, int row, std::optional<int> enough);

private:
    /// Rows of logits where they were computed, and which of them is asked for.
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
    const Backend* there_ = nullptr;  // where some of this step's are together; null: nowhere yet
    std::size_t first_together_ = 0;  // which
};

}  // namespace engine
