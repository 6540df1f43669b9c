// Finds which layers' routed experts a list of tensor overrides (llama.cpp's -ot) leaves on the host.
#pragma once

#include "engine/gguf/gguf_file.h"
#include "engine/placement_options.h"
#include "engine/result.h"

#include <string>
#include <vector>

namespace engine {

/// Returns the options with their tensor overrides as numbers of layers: which leave their experts first, and, where
/// that is not chosen otherwise, how many do. The first pattern that is found in a tensor's name says where it is to
/// lie; experts that none names lie with their layer. BadRequest: a pattern is invalid, or takes too long; or a tensor
/// cannot lie where it was asked to, with what would be possible.
Result<PlacementOptions> with_tensor_overrides(PlacementOptions options, const GgufFile& file);

}  // namespace engine
