// Weights as the host computes with them: mapped from the file, or copied with their rows interleaved, where the
// kernels are faster with that.
#pragma once

#include "engine/exec/huge_array.h"
#include "engine/exec/thread_pool.h"
#include "engine/gguf/gguf_file.h"
#include "engine/model/weights.h"
#include "kernels/cpu.h"

#include <vector>

namespace engine {

/// A copy is made when a part is first used, takes as much memory as the file's mapped pages, which are given back, and
/// goes when drop() says that the host does not compute the part any more. Where memory is short the file's stay in
/// use: their pages can be had again without swapping. One thread calls everything here.
class HostWeights
{
public:
    /// file, weights: outlive this. keep_free_bytes: of RAM, which no copy may take.
    HostWeights(const GgufFile& file, const Weights& weights, const Hyperparameters& h, std::int64_t keep_free_bytes);

    /// Where they are stays the same, what they say changes with use() and drop().
    const LayerWeights& layer(int l) const { return layers_[std::size_t(l)].weights; }
    const HeadWeights& head() const { return head_.weights; }
    int layers() const { return int(layers_.size()); }

    /// Before a step that computes with it; costs nothing when that was done.
    void use_layer(int l, ThreadPool& pool) { use(layers_[std::size_t(l)], pool); }
    void use_head(ThreadPool& pool) { use(head_, pool); }
    void drop_layer(int l);
    void drop_head();

private:
    template <class W>
    struct Part {
        W weights;
        HugeArray copy;
        bool used = false;
    };
    template <class W>
    void use(Part<W>& part, ThreadPool& pool);
    bool find_memory(HugeArray& memory, std::size_t bytes) const;
    void interleave(const Matrix& from, int stack, std::byte* to, ThreadPool& pool) const;

    const GgufFile& file_;
    const Weights& source_;
    const kernels::CpuKernels& kernels_;
    int experts_;
    std::int64_t keep_free_bytes_;
    std::vector<Part<LayerWeights>> layers_;
    Part<HeadWeights> head_;
};

}  // namespace engine
