// Which device computes which layer. Fixed within a token; layers may move between tokens.
#pragma once

#include "engine/exec/backend.h"

#include <vector>

namespace engine {

class Placement
{
public:
    /// All layers, and what comes before and after them, on one device.
    Placement(int layers, Backend& on)
        : layers_(std::size_t(layers), &on)
        , ends_(&on)
    {
    }

    Backend& backend_of(int layer) const { return *layers_[std::size_t(layer)]; }
    Backend& backend_of_ends() const { return *ends_; }  // embedding, final norm, output

private:
    std::vector<Backend*> layers_;
    Backend* ends_;
};

}  // namespace engine
