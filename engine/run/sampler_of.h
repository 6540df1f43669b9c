// sampler_of makes the sampler of a turn: what its request gives as texts becomes tokens of the model.
#pragma once

#include "engine/run/loaded_model.h"
#include "engine/sampling/sampler.h"

#include <cstdint>

namespace engine {

/// Returns the request with the tokens of its biases' texts in place of the texts. Where these are more than check()
/// accepts, the rest is left out.
Request with_biased_tokens(Request request, const Tokenizer& tokenizer);

/// Makes the sampler of a request that is from with_biased_tokens().
Sampler sampler_of(const Request& request, const LoadedModel& model, std::uint64_t seed);

/// Checks that the tokens exist that a request from with_biased_tokens() names.
Status check_ids(const Request& request, const Tokenizer& tokenizer);

}  // namespace engine
