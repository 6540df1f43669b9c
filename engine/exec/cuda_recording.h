// CudaRecording holds a decode step over a range of layers, kept as graphs that can be launched again. The length of
// the conversation, the position and where KV blocks lie are data that the graphs read on the device, so growth,
// offload and fetch change nothing. When a layer moves, or its first block leaves or streams, another recording is
// needed.
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
    int row = 0;          // the first row, counted in the step
    bool merges = false;  // the host attends a part
    kernels::cuda::Attention launch = {};
    kernels::cuda::Rows out = {};
};

/// The experts of one layer that the host computes, as far as they are the same in each step.
struct CudaHostExpertsCall {
    const LayerWeights* weights = nullptr;
    // Only whether its routed_by is null counts, which says what the router reads; its tokens are those of another
    // step.
    ExpertParameters p = {};
    int rows = 0, cols = 0;
    int routed_cols = 0;
    bool has_copies = false;  // the device has chosen already, and computes some itself
};

/// The host's work between two graphs: it marks how far the device has got, in order to wait for that later.
struct CudaRowsSent {
};

/// What the host does between two graphs, or nothing.
using CudaHostWork = std::variant<std::monostate, CudaAttending, CudaRowsSent, CudaHostExpertsCall>;

class CudaRecording
{
public:
    /// Says which KV of a layer does not lie on the device.
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
    /// No graph of it may be running.
    ~CudaRecording()
    {
        for (const Part& part : parts_)
            (void)driver_.destroy(part.graph);
    }
    CudaRecording(const CudaRecording&) = delete;
    CudaRecording& operator=(const CudaRecording&) = delete;

    /// A graph, what the host attends while it runs, in order, and what the host does after it: it takes part in
    /// attention or computes experts.
    struct Part {
        kernels::cuda::GraphExec graph = nullptr;
        std::vector<CudaAttending> joins = {};
        CudaHostWork then;
    };
    /// Makes room for one more part, so that add() allocates nothing.
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
