// CudaExperts computes a mixture of experts on a GPU: no row goes anywhere; each product takes its rows from where they
// are, by pairs of a row and one of its experts.
#pragma once

#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_products.h"
#include "engine/exec/rows.h"
#include "engine/model/expert_cache.h"
#include "engine/model/hyperparameters.h"

#include <cstddef>

namespace engine {

/// What layers with experts are computed in, besides the rows that all layers have.
struct CudaExpertRows {
    /// `max_rows`: tokens of the largest batch. The model has experts.
    CudaExpertRows(const Hyperparameters& h, int max_rows, RowMemory& memory);

    Rows router_logits;  // (rows, experts)
    Rows in;             // (rows * used, expert_length) where it is the input that is weighed
    Rows gate_up;        // (rows * used, 2 expert_ffn)
    Rows hidden;         // (rows * used, expert_ffn)
    Rows out;            // (rows * used, expert_length)
    // Of the device (kernels/cuda/ops.h: Routing); for good, as the memory is.
    std::byte *chosen, *weights, *sorted, *begin;
};

/// Owned by a GPU's backend, on its thread.
class CudaExperts
{
public:
    /// The model has experts. All that is given outlives it. Throws std::bad_alloc.
    CudaExperts(CudaCalls& calls, CudaProducts& products, const Hyperparameters& h, int max_rows, RowMemory& memory);

    /// out = sum over the chosen experts of weight * down(gate(x) * up(x)).
    void compute(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out);

    // The same in steps, where experts lie on the host and the device has copies of some:

    /// The experts of each row, and their weights.
    kernels::cuda::Routing choose(Rows& x, const LayerWeights& w, const ExpertParameters& p);
    /// What they make of it, into a row of each pair; of those that routing.places names, where it is there.
    /// `matrices`: of the first expert, or where they lie in a copy (ExpertCache::within_slot()).
    void compute_chosen(Rows& x, const LayerWeights& w, const ExpertMatrices& matrices, const ExpertParameters& p,
                        const kernels::cuda::Routing& routing);
    /// out = the sum of that; with routing.places: it is added.
    void add_up(const ExpertParameters& p, kernels::cuda::Routing routing, Rows& out);

private:
    CudaCalls& calls_;
    CudaProducts& products_;
    CudaExpertRows rows_;
};

}  // namespace engine
