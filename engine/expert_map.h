// ExpertMap says where the routed experts of each layer lie, and how often the tokens of one conversation chose them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace engine {

struct ExpertMap {
    /// Copy: on the host, and a copy of it on the device. None: the layer has no experts.
    enum class Place : std::uint8_t { Host, Device, Copy, None };

    int layers = 0;
    int experts = 0;            // of a layer that has some
    std::vector<Place> places;  // (layers, experts)
    // Tokens that chose the expert: since the newest answer began, and since the model was loaded, prompts included.
    std::vector<std::uint32_t> in_answer, in_conversation;  // (layers, experts)
    bool counted_on_device = true;  // false: a GPU does not say what tokens chose of the experts that lie there

    std::size_t at(int layer, int expert) const
    {
        return std::size_t(layer) * std::size_t(experts) + std::size_t(expert);
    }
};

}  // namespace engine
