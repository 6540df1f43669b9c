// Holds the memory that a GPU's backend computes in: one piece of the device's, and page-locked pieces of
// the host's through which rows travel.
#pragma once

#include "engine/device/cuda_device.h"
#include "engine/exec/activations.h"
#include "engine/kv/kv_cache.h"
#include "kernels/cuda/ops.h"

#include <cstddef>
#include <cstdint>

namespace engine {

/// Pieces of the device's memory begin at multiples of this.
constexpr std::size_t kCudaAlignment = 256;

constexpr std::size_t cuda_aligned(std::size_t bytes)
{
    return (bytes + kCudaAlignment - 1) / kCudaAlignment * kCudaAlignment;
}

/// Gives out one piece of device memory from its beginning; nothing is given back.
class CudaArena final : public RowMemory
{
public:
    CudaArena(std::byte* begin, std::size_t bytes)
        : next_(begin)
        , end_(begin + bytes)
    {
    }
    /// Throws std::bad_alloc where it is used up.
    std::byte* take(std::size_t bytes) override;
    void give_back(std::byte*) override {}

private:
    std::byte* next_;
    std::byte* end_;
};

/// Page-locked memory of the host's.
class CudaStaging
{
public:
    CudaStaging() = default;
    ~CudaStaging();
    CudaStaging(const CudaStaging&) = delete;
    CudaStaging& operator=(const CudaStaging&) = delete;
    /// Takes this much memory of the device. DeviceFull, DeviceLost.
    Status allocate(const CudaDevice& device, std::size_t bytes);
    std::byte* data() const { return data_; }

private:
    const CudaDevice* device_ = nullptr;
    std::byte* data_ = nullptr;
};

/// Sizes, in bytes unless said otherwise.
struct CudaSizes {
    /// Few rows are those of a decode step, or of one that checks drafted tokens. Their attention goes through
    /// partials, of this many rows at most at a time.
    static constexpr int kFewRows = kernels::cuda::kFewTokens;
    /// The most that partials may take, unless those of a single row take more.
    static constexpr std::size_t kMostPartials = std::size_t(64) << 20;

    /// Logits of this many rows are computed together, which reads the head's weights once, or twice where sixteen_bits
    /// is set. For more rows they would be read once more for each eight, and more room would be needed.
    static constexpr int kHeadRows = 8;

    CudaSizes(const Hyperparameters& h, const KvCache& cache, int max_rows, int max_tokens);
    int max_rows, head_rows, max_blocks, layers;
    int heads = 0, v_dim = 0;  // the most of any layer
    int experts = 0;           // of a layer that has some
    int few_rows;              // rows whose partials there is room for, kFewRows at most
    int most_ranked;           // the most logits that are searched for
    bool sixteen_bits;         // activations are rounded to two times 8 bits, as the CPU does for models with experts
    std::size_t positions, block_tables, expert_places, activations, partials, carried, rank_scratch, ranked;
    std::size_t host_partials;  // in the host's memory
    std::size_t counters;       // of thread blocks that have ended (kernels/cuda/ops.h)
    std::size_t rounded_heads;  // of a batch, each as a row by itself; twice that with sixteen_bits
    std::size_t device() const;
};

}  // namespace engine
