// Says which choices of a placement make no sense, whoever makes them: a load, a command or a change of the device.
#pragma once

#include "engine/placement_options.h"
#include "engine/result.h"

namespace engine {

/// Checks a placement's options. BadRequest, with a sentence.
Status check(const PlacementOptions& options);

}  // namespace engine
