// Reads and writes which samplers draw an answer, in the form of llama-server's requests.
#pragma once

#include "app/server/fields.h"
#include "engine/engine.h"

namespace server {

/// Reads `samplers`: samplers that are not in the list are switched off. Their order here is always llama-server's
/// usual one: another order of samplers that are on is refused, and so is an unknown sampler. `infill`, which editors
/// ask for, makes the model choose the likeliest token. Call it after the other sampling fields were read.
void read_samplers(Fields& fields, engine::SamplingOptions& sampling);

/// Returns all settings under the names that requests use.
Json said_sampling(const engine::SamplingOptions& sampling);

}  // namespace server
