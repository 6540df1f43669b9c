// CudaRecording holds a decode step over a range of layers, kept as graphs that can be launched again. What a step
// reads of the conversation's length, of where KV blocks are and of the position is the device's data, so growth,
// offload and fetch change nothing; a layer that moves, or the first block of a layer that leaves or streams, needs
// another recording.
#pragma once

#include "engine/exec/backend.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

namespace engine {

/// The attention of some rows of one layer, as far as it is the same in each step.
struct CudaAttending {
    AttentionParameters p = {};
    int l = 0;
    int row = 0;          // the first, of the step's
    bool merges = false;  // the host attends a part
    kernels::cuda::Attention launch = {};
    kernels::cuda::Rows out = {};
};

/// The experts of one layer that the host computes, as far as they are the same in each step.
struct CudaHostExpertsCall {
    const LayerWeights* weights = nullptr;
    // Its routed_by says only whether the router reads rows of its own; its tokens are another step's.
    ExpertParameters p = {};
    int rows = 0, cols = 0;
    int routed_cols = 0;
    bool has_copies = false;  // the device has chosen already, and computes some itself
};

/// The host wants to know when the device has reached this.
struct CudaRowsSent {
};

/// What the host does between two graphs, or nothing.
using CudaHostWork = std::variant<std::monostate, CudaAttending, CudaRowsSent, CudaHostExpertsCall>;

class CudaRecording
{
public:
    /// Holds what of a layer's KV does not lie on the device.
    struct Layer {
        bool merges = false;   // the host attends a part
        bool streams = false;  // a part comes through the ring
        bool operator==(const Layer&) const = default;
    };

    CudaRecording(const kernels::cuda::Driver& driver, const LayerRange& range, std::vector<Layer> layers)
        : driver_(driver)
        , range_(range)
        , layers_(std::move(layers))
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

    /// A graph, what the host attends while it runs, in order, and what comes after it: attention that the host has a
    /// hand in, or experts.
    struct Part {
        kernels::cuda::GraphExec graph = nullptr;
        std::vector<CudaAttending> joins = {};
        CudaHostWork then;
    };
    /// Makes room for one more part: add() takes no memory then.
    void make_room() { parts_.reserve(parts_.size() + 1); }
    void add(Part part) { parts_.push_back(std::move(part)); }
    /// Says whether device and host wait for each other in it.
    bool has_joins() const
    {
        return std::ranges::any_of(parts_, [](const Part& part) { return !part.joins.empty(); });
    }
    const std::vector<Part>& parts() const { return parts_; }

    const LayerRange& range() const { return range_; }
    bool is_of(const LayerRange& range, const std::vector<Layer>& layers) const
    {
        return range_ == range && layers_ == layers;
    }

private:
    const kernels::cuda::Driver& driver_;
    LayerRange range_;
    std::vector<Layer> layers_;  // (layers,) of the model
    std::vector<Part> parts_;
};

}  // namespace engine
