// Reads the prompts of requests that have no messages: texts, tokens, or several of them.
#pragma once

#include "app/server/ask.h"
#include "app/server/fields.h"
#include "app/server/model_text.h"

namespace server {

/// `prompt`: a text, or an array of tokens, with texts between them or not, or an array of such. llama-server's objects
/// with a text in them are read, too. Call it when the choices have been read.
void read_prompts(Fields& fields, Ask& ask);

/// Whether texts between tokens have to become tokens first.
bool has_mixed_prompts(const Ask& ask);
engine::Status make_tokens_of_mixed(Ask& ask, ModelText& text);

}  // namespace server
