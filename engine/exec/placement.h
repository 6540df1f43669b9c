// Which device computes which layer, from which copy of its weights. Fixed within a token; layers may move between
// tokens.
#pragma once

#include "engine/exec/backend.h"

#include <vector>

namespace engine {

class Placement
{
public:
    /// All layers, and what comes before and after them, on one device.
    Placement(const std::vector<LayerWeights>& layers, Backend& on)
        : ends_(&on)
    {
        for (const LayerWeights& weights : layers)
            layers_.push_back({&on, &weights});
    }

    void place(int layer, Backend& on, const LayerWeights& weights) { layers_[std::size_t(layer)] = {&on, &weights}; }

    Backend& backend_of(int layer) const { return *layers_[std::size_t(layer)].on; }
    const LayerWeights& weights_of(int layer) const { return *layers_[std::size_t(layer)].weights; }
    Backend& backend_of_ends() const { return *ends_; }  // embedding, final norm, output

private:
    struct Place {
        Backend* on = nullptr;
        const LayerWeights* weights = nullptr;
    };
    std::vector<Place> layers_;
    Backend* ends_;
};

}  // namespace engine
