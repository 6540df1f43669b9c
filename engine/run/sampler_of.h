// sampler_of makes the sampler of a turn: what its request says in texts is said in the model's tokens.
#pragma once

#include "engine/run/loaded_model.h"
#include "engine/sampling/sampler.h"

#include <cstdint>

namespace engine {

Sampler sampler_of(const Request& request, const LoadedModel& model, std::uint64_t seed);

/// Whether the tokens that a request names are there.
Status check_ids(const Request& request, const Tokenizer& tokenizer);

}  // namespace engine
