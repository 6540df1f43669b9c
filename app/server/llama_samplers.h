// Reads and says which samplers an answer is drawn by, as llama-server's requests have it.
#pragma once

#include "app/server/fields.h"
#include "engine/engine.h"

namespace server {

/// `samplers`: those that are not in the list are off. They work in one order here, which is llama-server's own:
/// another one of those that are on is refused. `infill`, which editors ask for, has the likeliest token chosen. Call
/// it when the others have been read.
void read_samplers(Fields& fields, engine::SamplingOptions& sampling);

/// Writes all settings, by the names that requests have for them.
Json said_sampling(const engine::SamplingOptions& sampling);

}  // namespace server
