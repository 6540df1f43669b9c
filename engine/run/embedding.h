// embedding_of() computes a text and pools the hidden states of its tokens.
#pragma once

#include "engine/engine.h"
#include "engine/run/loaded_model.h"

#include <functional>
#include <stop_token>

namespace engine {

/// Computes the text in steps of the model's, with a sequence of its own that is empty before and afterwards.
/// `make_room` frees memory of others; false: there is none. Errors as of Engine::embed(). Throws std::bad_alloc.
Result<Embedding> embedding_of(LoadedModel& model, const EmbeddingInput& input, KvSequence& sequence,
                               const std::function<bool()>& make_room, const std::stop_token& stop);

}  // namespace engine
