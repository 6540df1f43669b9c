// What layers with experts are computed in on a GPU, besides the rows that all layers have.
#pragma once

#include "engine/exec/rows.h"
#include "engine/model/hyperparameters.h"

namespace engine {

struct CudaExperts {
    /// `max_rows`: tokens of the largest batch. The model has experts.
    CudaExperts(const Hyperparameters& h, int max_rows, RowMemory& memory);

    Rows router_logits;  // (rows, experts)
    Rows gate_up;        // (rows * used, 2 expert_ffn)
    Rows hidden;         // (rows * used, expert_ffn)
    Rows out;            // (rows * used, dim)
    // Of the device (kernels/cuda/ops.h: Routing); for good, as the memory is.
    std::byte *chosen, *weights, *sorted, *begin;
};

}  // namespace engine
