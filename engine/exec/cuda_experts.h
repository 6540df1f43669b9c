// CudaExperts computes a mixture of experts on a GPU: no row goes anywhere; each product takes its rows from where they
// are, by pairs of a row and one of its experts.
#pragma once

#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_products.h"
#include "engine/exec/expert_ring.h"
#include "engine/exec/rows.h"
#include "engine/model/expert_cache.h"
#include "engine/model/hyperparameters.h"

#include <cstddef>
#include <cstdint>

namespace engine {

/// Holds what layers with experts are computed in, besides the rows that all layers have.
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
    std::byte* places;  // see ExpertsApart
};

/// Holds what a step of many rows multiplies with where experts lie on the host: copies on the device, and what comes
/// there for the step. The host computes the others.
struct ExpertsApart {
    static constexpr int kKinds = 3;  // gates, where they are apart, ups, downs
    // (kKinds, experts) on the device: where each matrix is, or will be; 0: nowhere
    kernels::cuda::DevicePtr places = 0;
    ExpertRing* ring = nullptr;  // null: none comes
    kernels::cuda::DevicePtr places_of(int kind, int experts) const
    {
        return places + std::size_t(kind) * std::size_t(experts) * sizeof(std::uint64_t);
    }
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
    /// Computes what the chosen experts make of it, into a row of each pair; of those that routing.places names, where
    /// it is there. `matrices`: of the first expert, or where they lie in a copy (ExpertCache::within_slot()).
    void compute_chosen(Rows& x, const LayerWeights& w, const ExpertMatrices& matrices, const ExpertParameters& p,
                        const kernels::cuda::Routing& routing);
    /// Does the same for many rows, where matrices lie apart. Fills what apart.places points at.
    void compute_apart(Rows& x, const LayerWeights& w, const ExpertParameters& p, const kernels::cuda::Routing& routing,
                       const ExpertsApart& apart);
    /// Memory of the device for ExpertsApart::places.
    kernels::cuda::DevicePtr places() const;
    /// out = the sum of that; with routing.places: it is added.
    void add_up(const ExpertParameters& p, kernels::cuda::Routing routing, Rows& out);

private:
    /// Holds what the experts read.
    struct Input {
        Rows& rows;
        int pairs_of_each;
    };
    Input input_of(Rows& x, const ExpertParameters& p, const kernels::cuda::Routing& routing);
    template <class Multiply>
    void compute_hidden(const Input& in, const LayerWeights& w, const ExpertMatrices& matrices, Gate gate, int pairs,
                        const Multiply& multiply);
    void compute_gated_row(const Input& in, const LayerWeights& w, const ExpertMatrices& matrices, Gate gate,
                           const kernels::cuda::Routing& routing);

    CudaCalls& calls_;
    CudaProducts& products_;
    CudaExpertRows rows_;
};

}  // namespace engine
