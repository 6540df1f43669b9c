// Makes the prompts of gaps in texts, as models read them that were taught to fill such gaps.
#pragma once

#include "app/server/ask.h"
#include "app/server/model_text.h"

#include <stop_token>

namespace server {

/// Says whether gaps have to become tokens first.
bool has_gaps(const Ask& ask);

/// Turns gaps into tokens. What does not fit into the context beside the answer is left out: first the files that were
/// named first, then the beginning of the text before the gap and the end of that behind it. `context_tokens`: 0: not
/// known, and all of it is taken. Unsupported: the model fills no gaps. Cancelled: `stop` was requested.
engine::Status make_tokens_of_gaps(Ask& ask, ModelText& text, int context_tokens, std::stop_token stop);

}  // namespace server
