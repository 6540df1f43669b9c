// Answers requests for embeddings, with models that give them.
#pragma once

#include "app/server/plain_answers.h"

namespace server {

// All are of a file; a model that gives none is not loaded for them.

/// OpenAI's, each embedding as numbers or as base64 of its floats.
PlainAnswer openai_embeddings(const PlainRequest& request);
/// Ollama's of one text or several, and its older one of one text.
PlainAnswer ollama_embed(const PlainRequest& request);
PlainAnswer ollama_embeddings(const PlainRequest& request);

}  // namespace server
