// Reads the prompts of requests that have no messages: texts, tokens, or several of them.
#pragma once

#include "app/server/ask.h"
#include "app/server/fields.h"

namespace server {

/// `prompt`: a text or an array of tokens, or an array of such. llama-server's objects with a text in them are read,
/// too.
void read_prompts(Fields& fields, Ask& ask);

}  // namespace server
