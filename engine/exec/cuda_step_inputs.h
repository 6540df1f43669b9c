// CudaStepInputs sends a GPU what a step needs from the host, in one piece when the residual stream enters: the rows,
// their positions and position tables, and for every layer where its KV blocks and the copies of its experts are.
#pragma once

#include "engine/exec/backend.h"
#include "engine/exec/cuda_calls.h"
#include "engine/exec/cuda_event.h"
#include "engine/exec/cuda_memory.h"
#include "kernels/cuda/ops.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace engine {

/// Owned by a GPU's backend, on its thread.
class CudaStepInputs
{
public:
    /// `calls` and `sizes` outlive it, and so does what `memory` gives. Throws std::bad_alloc.
    CudaStepInputs(CudaCalls& calls, const CudaSizes& sizes, CudaArena& memory);
    /// Allocates the page-locked memory, for rows as large as those of `like`. DeviceFull, DeviceLost.
    Status allocate(const Activations& like);

    /// Begins a step: `to` gets the rows and the position tables of `host`. Step and host live until end_step().
    void send(const Step& step, const Activations& host, Activations& to);
    void end_step() { step_ = nullptr; }

    /// A layer whose experts lie on the host, of which the device may have copies.
    struct CachedExperts {
        ExpertCache* cache = nullptr;           // null: it has none
        const LayerWeights* weights = nullptr;  // where its experts lie as the file has them
        bool operator==(const CachedExperts&) const = default;
    };
    /// Call it between steps; recordings that were made before are of no use then.
    void set_cached_experts(int l, const CachedExperts& cached) { cached_experts_[std::size_t(l)] = cached; }
    const CachedExperts& cached_experts(int l) const { return cached_experts_[std::size_t(l)]; }

    // ---- the step that was begun ----

    const Step& step() const { return *step_; }
    const Activations& host() const { return *host_; }  // from where the rows of the step came
    int number() const { return number_; }              // of the step; 0: there was no step yet
    /// Says whether rows [row, row + rows) of the step see blocks that the device does not attend.
    bool any_on_host(int l, int row, int rows) const;
    bool streams(int l) const { return !step_->cache.stream()->blocks_of(l).empty(); }

    /// Returns what the device finds at expert_places(l): (experts,).
    std::span<const std::uint64_t> expert_places_here(int l) const
    {
        return {expert_table(l), std::size_t(sizes_.experts)};
    }

    // ---- where the device finds it ----

    kernels::cuda::DevicePtr positions() const;  // (rows,) ints
    kernels::cuda::DevicePtr number_there() const;
    kernels::cuda::KvBlocks kv_blocks(int l, const KvLayerShape& shape) const;
    kernels::cuda::DevicePtr expert_places(int l) const;  // (experts,) see Routing::places

private:
    void fill_block_tables(const Step& step, int rows);
    void fill_expert_places();
    std::size_t lists_bytes() const;
    std::uint64_t* block_table(int l) const;   // in the staging memory
    std::uint64_t* expert_table(int l) const;  // in the staging memory, too

    CudaCalls& calls_;
    const CudaSizes& sizes_;
    // On the device, as neighbours: (max_rows,) ints: the position of each row, and the number of the step; (layers,
    // max_blocks): addresses of KV blocks, 0 for those on the host; (layers, experts): addresses of copies of experts.
    std::byte* positions_;
    std::byte* block_tables_;
    std::byte* expert_places_;
    CudaStaging staging_;                        // these, position tables and rows on their way to the device
    CudaEvent taken_;                            // the copies have left the staging memory
    std::vector<CachedExperts> cached_experts_;  // (layers,)
    const Step* step_ = nullptr;
    const Activations* host_ = nullptr;
    int number_ = 0;
};

}  // namespace engine
