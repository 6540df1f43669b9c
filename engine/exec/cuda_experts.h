// CudaExperts computes a mixture of experts on a GPU. Rows are not gathered by expert: each product reads its rows
// where they are, by pairs of a row and one of its experts.
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
    Rows in;             // (rows * used, expert_length) where weights are applied to the input
    Rows gate_up;        // (rows * used, 2 expert_ffn)
    Rows hidden;         // (rows * used, expert_ffn)
    Rows out;            // (rows * used, expert_length)
    // On the device (kernels/cuda/ops.h: Routing); they stay where they are.
    std::byte *chosen, *weights, *sorted, *begin;
    std::byte* places;  // see ExpertsApart
};

/// Says where a step of many rows finds the experts of a layer whose experts lie on the host: in copies on the device,
/// and in what comes there for the step. The host computes the others.
struct ExpertsApart {
    static constexpr int kKinds = 3;  // gates, where they are apart, ups, downs
    // (kKinds, experts) on the device: the address where each matrix is, or will be; 0: it is not there
    kernels::cuda::DevicePtr places = 0;
    ExpertRing* ring = nullptr;  // null: no experts come
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

    // The same in steps, for layers whose experts lie on the host while the device has copies of some:

    /// Chooses the experts of each row, and their weights.
    kernels::cuda::Routing choose(Rows& x, const LayerWeights& w, const ExpertParameters& p);
    /// Computes the chosen experts, each pair of a row and an expert into a row of its own; with routing.places only
    /// those that lie there. `matrices`: of the first expert, or where they lie in a copy (ExpertCache::within_slot()).
    void compute_chosen(Rows& x, const LayerWeights& w, const ExpertMatrices& matrices, const ExpertParameters& p,
                        const kernels::cuda::Routing& routing);
    /// Does the same for many rows, where matrices lie apart. What apart.places points at has been filled.
    void compute_apart(Rows& x, const LayerWeights& w, const ExpertParameters& p, const kernels::cuda::Routing& routing,
                       const ExpertsApart& apart);
    /// Returns the memory of the device for ExpertsApart::places.
    kernels::cuda::DevicePtr places() const;
    /// out = the weighted sum of each row's pairs; with routing.places it is added to out.
    void add_up(const ExpertParameters& p, kernels::cuda::Routing routing, Rows& out);

private:
    /// Holds the rows that the experts read.
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
