// Writes the sentences in which events say that a layer or its experts moved, and reads from one where they moved to.
#pragma once

#include "engine/telemetry.h"

#include <optional>
#include <string>
#include <string_view>

namespace engine {

inline constexpr std::string_view kToDevice = " moved to the device", kToHost = " moved to the host";

/// Writes the sentence of an Event::Kind::LayerMove.
inline std::string layer_moved(int layer, Residency to)
{
    return "layer " + std::to_string(layer) + std::string(to == Residency::Host ? kToHost : kToDevice);
}

/// Writes the sentence of an Event::Kind::ExpertsMove.
inline std::string experts_moved(int layer, Residency to)
{
    return "experts of " + layer_moved(layer, to);
}

/// Returns where the layer or its experts have moved to. Empty: it is another sentence.
inline std::optional<Residency> layer_moved_to(std::string_view sentence)
{
    if (sentence.ends_with(kToHost))
        return Residency::Host;
    return sentence.ends_with(kToDevice) ? std::optional(Residency::Device) : std::nullopt;
}

}  // namespace engine
