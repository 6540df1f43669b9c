// embedding_of() reads a text and pools what the model has made of it.
#pragma once

#include "engine/engine.h"
#include "engine/run/loaded_model.h"

#include <functional>
#include <stop_token>

namespace engine {

/// Reads the text in steps of the model's, with a sequence of its own that is empty and is left empty. `make_room`
/// frees memory of others'; false: none has any. Errors as of Engine::embed(). Throws std::bad_alloc.
Result<Embedding> embedding_of(LoadedModel& model, const EmbeddingInput& input, KvSequence& sequence,
                               const std::function<bool()>& make_room, const std::stop_token& stop);

}  // namespace engine
