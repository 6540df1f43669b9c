// sampler_of makes the sampler of a turn: what its request gives as texts becomes tokens of the model.
#pragma once

#include "engine/run/loaded_model.h"
#include "engine/sampling/sampler.h"

#include <cstdint>

namespace engine {

Sampler sampler_of(const Request& request, const LoadedModel& model, std::uint64_t seed);

/// Checks that the tokens that a request names exist.
Status check_ids(const Request& request, const Tokenizer& tokenizer);

}  // namespace engine
