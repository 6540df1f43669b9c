// A decode step over a range of layers, kept as graphs that can be launched again (design D3). What a step reads of the
// conversation's length, of where KV blocks are and of the position is the device's data, so growth, offload and fetch
// change nothing; a layer that moves, or the first block of a layer that leaves, is another recording.
#pragma once

#include "engine/exec/backend.h"
#include "kernels/cuda/ops.h"

#include <optional>
#include <utility>
#include <vector>

namespace engine {

/// The attention of some rows of one layer, as far as it is the same in each step.
struct CudaAttending {
    AttentionParameters p = {};
    int l = 0;
    int row = 0;  // the first, of the step's
    kernels::cuda::Attention launch = {};
    kernels::cuda::Rows out = {};
};

class CudaRecording
{
public:
    CudaRecording(const kernels::cuda::Driver& driver, const LayerRange& range, std::vector<bool> merging)
        : driver_(driver)
        , range_(range)
        , merging_(std::move(merging))
    {
    }
    /// Nothing of it may be running.
    ~CudaRecording()
    {
        for (const Part& part : parts_)
            (void)driver_.destroy(part.graph);
    }
    CudaRecording(const CudaRecording&) = delete;
    CudaRecording& operator=(const CudaRecording&) = delete;

    /// A graph, after which the host attends its part where `then` says so.
    struct Part {
        kernels::cuda::GraphExec graph = nullptr;
        std::optional<CudaAttending> then;
    };
    void add(const Part& part) { parts_.push_back(part); }
    const std::vector<Part>& parts() const { return parts_; }

    const LayerRange& range() const { return range_; }
    bool is_of(const LayerRange& range, const std::vector<bool>& merging) const
    {
        return range_ == range && merging_ == merging;
    }

private:
    const kernels::cuda::Driver& driver_;
    LayerRange range_;
    std::vector<bool> merging_;  // (layers,) whether the host attends a part of the layer
    std::vector<Part> parts_;
};

}  // namespace engine
