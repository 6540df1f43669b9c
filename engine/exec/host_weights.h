// HostWeights hands out the weights that the CPU multiplies with: straight from the mapped file, or copies with their
// rows interleaved where that makes the kernels faster.
#pragma once

#include "engine/device/huge_array.h"
#include "engine/exec/thread_pool.h"
#include "engine/gguf/gguf_file.h"
#include "engine/model/weights.h"
#include "kernels/cpu.h"

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

namespace engine {

/// A copy is made when a part is first used. It takes as much memory as the mapped pages of the file, which are given
/// back, and it goes when a drop function says that the host does not compute the part any more. Where memory is short
/// the file's pages stay in use: they can be had again without swapping. One thread calls everything here.
class HostWeights
{
public:
    /// The file and the weights outlive this. keep_free_bytes: of RAM, which no copy may take; empty: there is no room
    /// for copies.
    HostWeights(const GgufFile& file, const Weights& weights, const Hyperparameters& h,
                std::optional<std::int64_t> keep_free_bytes);

    /// Returns weights whose addresses stay the same; the use and drop functions change what is there.
    const LayerWeights& layer(int l) const { return layers_[std::size_t(l)].weights; }
    const HeadWeights& head() const { return head_; }
    int layers() const { return int(layers_.size()); }

    /// Call it before a step that computes with this part of the layer, the whole or its experts. False: it is ready
    /// already, which costs nothing.
    bool use_layer(int l, LayerPart part, ThreadPool& pool);
    bool use_head(ThreadPool& pool);
    /// Says whether a part in use is not copied for want of memory.
    bool lack_memory() const { return lack_memory_; }
    void drop_layer(int l, LayerPart part);
    void drop_head();

private:
    struct Copy {
        HugeArray memory;
        bool used = false;
    };
    struct Layer {
        LayerWeights weights;
        Copy rest, experts;
    };
    template <class ForEachMatrix>
    bool use(Copy& copy, ThreadPool& pool, const ForEachMatrix& for_each_matrix);
    bool use_part(Layer& layer, LayerPart part, ThreadPool& pool);
    bool find_memory(HugeArray& memory, std::size_t bytes) const;
    void interleave(const Matrix& from, int stack, std::byte* to, ThreadPool& pool) const;
    struct Piece {
        const Matrix* matrix;
        int first, count;  // rows of the matrix, or of its stack
    };
    std::vector<Piece> pieces_to_measure(kernels::TensorType type);
    double product_seconds(const Piece& piece, ThreadPool& pool) const;
    void choose_read_ahead(ThreadPool& pool);

    const GgufFile& file_;
    const Weights& source_;
    const kernels::CpuKernels& kernels_;
    int experts_;
    std::optional<std::int64_t> keep_free_bytes_;
    bool lack_memory_ = false;
    std::vector<Layer> layers_;
    HeadWeights head_;
    Copy head_copy_;
    std::array<std::size_t, kernels::kTensorTypeIds> copied_bytes_ = {};  // of each type, since it was made
    std::array<bool, kernels::kTensorTypeIds> read_ahead_is_chosen_ = {};
};

}  // namespace engine
