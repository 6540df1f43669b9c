// Reads the prompts of requests that have no messages: texts, tokens, or several of them.
#pragma once

#include "app/server/ask.h"
#include "app/server/fields.h"
#include "app/server/model_text.h"

#include <cstddef>
#include <vector>

namespace server {

/// Reads `prompt`: a text, an array of tokens and texts, or an array of such prompts. llama-server's objects with a
/// text in them are read, too. Call it after the choices were read.
void read_prompts(Fields& fields, Ask& ask);

/// Reads prompts that `suffix` may follow, behind a gap that is to be filled. Such a prompt is a text, and may be
/// empty.
void read_prompts_and_suffix(Fields& fields, Ask& ask);

/// Reads the same forms as read_prompts() from another field, `most` prompts at most.
std::vector<RawPrompt> read_raw_prompts(Fields& fields, const char* name, std::size_t most);

/// Says whether a prompt has texts between tokens, which have to become tokens first.
bool has_mixed_prompts(const Ask& ask);
engine::Status make_tokens_of_mixed(Ask& ask, ModelText& text);

}  // namespace server
