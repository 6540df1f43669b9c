// CpuExperts computes a mixture of experts on the CPU. Rows are gathered by expert so that each expert's weights are
// read once a batch; each row's expert outputs are added in the order of their rank, so a batch of any size gives the
// same bits.
#pragma once

#include "engine/exec/cpu_products.h"
#include "engine/exec/expert_ring.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// Holds the experts that another device has chosen for each row, some of which it computes itself.
struct ChosenExperts {
    std::span<const int> experts;              // (rows, used), best first
    std::span<const float> weights;            // (rows, used)
    std::span<const std::uint64_t> elsewhere;  // (experts,) not 0: the device computes it
    ExpertCache* cache;                        // is told which were chosen; null: there is none
};

/// Owned by the CPU's backend; the engine's thread calls it.
class CpuExperts
{
public:
    /// The model has experts. `products` outlives it; the pool, too, or is replaced by use(). `max_rows`: tokens of the
    /// largest batch. Throws std::bad_alloc.
    CpuExperts(const Hyperparameters& h, int max_rows, CpuProducts& products, ThreadPool& pool);
    std::size_t bytes() const;
    /// Call it between steps: computes with these workers from now on.
    void use(ThreadPool& pool) { pool_ = &pool; }

    /// out = sum over the chosen experts of weight * down(gate(x) * up(x)).
    void compute(Rows& x, const LayerWeights& w, const ExpertParameters& p, Rows& out);
    /// Adds up only the experts that are not computed elsewhere; `chosen` takes the place of the router.
    void compute_rest(Rows& x, const LayerWeights& w, const ExpertParameters& p, const ChosenExperts& chosen,
                      Rows& out);

private:
    struct Pair {  // of a row and one of its experts, sorted by expert
        int row = 0;
        int slot = 0;
    };
    void route(Rows& x, const LayerWeights& w, const ExpertParameters& p);
    void count_chosen(const ExpertParameters& p) const;
    void leave_best_groups(const ExpertParameters& p);
    void choose(const float* scores, std::span<int> chosen, std::span<float> weights);
    void gather(const Rows& x, const ExpertParameters& p);
    void count_rows(int rows, const ExpertParameters& p);
    void sort_by_expert(int rows, const ExpertParameters& p, std::span<const std::uint64_t> elsewhere);
    void find_matrices(int rows, const LayerWeights& w, int layer);
    void send_for_some(const LayerWeights& w, int layer);
    void multiply(Rows& x, std::vector<Matrix>& matrices, Vector bias, ExpertRing* ring, Rows& out, int col);
    void compute_active(Rows& x, const LayerWeights& w, const ExpertParameters& p,
                        std::span<const std::uint64_t> elsewhere, Rows& out);

    CpuProducts& products_;
    ThreadPool* pool_;
    Rows router_logits_;                       // (rows, experts)
    Rows in_;                                  // (rows * used, expert_length), sorted by expert
    Rows gate_up_;                             // (rows * used, 2 expert_ffn); without gates (rows * used, expert_ffn)
    Rows hidden_;                              // (rows * used, expert_ffn)
    Rows out_;                                 // (rows * used, expert_length)
    std::vector<float> choice_;                // (experts,) of one row: what experts are chosen by
    std::vector<float> groups_;                // (groups,) of one row: the sum of their two best choices
    std::vector<int> chosen_;                  // (rows, used), best first
    std::vector<float> weights_;               // (rows, used)
    std::vector<int> sorted_position_;         // (rows, used) where each pair went
    std::vector<Pair> sorted_;                 // (rows * used,)
    int pairs_ = 0;                            // those of them that are computed here
    std::vector<int> expert_count_;            // (experts,)
    std::vector<ExpertRows> active_;           // of the sorted pairs
    std::size_t coming_ = 0;                   // this many of these, the last ones, come to a device for the step
    std::vector<Matrix> gates_, ups_, downs_;  // of each active expert, wherever they lie; no gates: they are in ups_
};

}  // namespace engine
