// Answers requests for embeddings, with models that give them.
#pragma once

#include "app/server/plain_answers.h"

namespace server {

// All three are about a file's model, loaded or not: one that gives no embeddings is refused without being loaded.

/// Answers in OpenAI's form, each embedding as numbers or as base64 of its floats.
PlainAnswer openai_embeddings(const PlainRequest& request);
/// Answer Ollama's requests: /api/embed for one text or several, and the older /api/embeddings for one.
PlainAnswer ollama_embed(const PlainRequest& request);
PlainAnswer ollama_embeddings(const PlainRequest& request);

}  // namespace server
