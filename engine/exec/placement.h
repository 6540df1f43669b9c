// Which device computes which layer, from which copy of its weights. Fixed within a token; layers may move between
// tokens.
#pragma once

#include "engine/exec/cpu_backend.h"

#include <vector>

namespace engine {

class Placement
{
public:
    /// All layers and the head on the host.
    Placement(const Weights& weights, CpuBackend& host)
        : host_(&host)
        , head_{&host, &weights.head}
    {
        for (const LayerWeights& layer : weights.layers)
            layers_.push_back({&host, &layer});
    }

    void place(int layer, Backend& on, const LayerWeights& weights) { layers_[std::size_t(layer)] = {&on, &weights}; }
    void place_head(Backend& on, const HeadWeights& weights) { head_ = {&on, &weights}; }

    Backend& backend_of(int layer) const { return *layers_[std::size_t(layer)].on; }
    const LayerWeights& weights_of(int layer) const { return *layers_[std::size_t(layer)].weights; }
    Backend& backend_of_head() const { return *head_.on; }
    const HeadWeights& head() const { return *head_.weights; }
    CpuBackend& host() const { return *host_; }  // also of the embedding: a row of it is all that a token needs

private:
    template <class T>
    struct Place {
        Backend* on = nullptr;
        const T* weights = nullptr;
    };
    CpuBackend* host_;
    std::vector<Place<LayerWeights>> layers_;
    Place<HeadWeights> head_;
};

}  // namespace engine
