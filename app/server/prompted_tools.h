// Makes a request's tools known to the model: by rules for its answer, and in words where its template has none for
// them.
#pragma once

#include "app/server/ask.h"
#include "app/server/model_text.h"
#include "engine/result.h"

#include <string_view>

namespace server {

/// Whether the template tells the model of tools itself: one that has a word for them prints them.
bool knows_tools(std::string_view chat_template);

/// Whether there are tools, or calls of any.
bool speaks_of_tools(const engine::Request& turn);

/// Where the template does not: the system's message says which tools there are and how to call one, and earlier calls
/// and what came of them are messages of their own.
void tell_of_tools(engine::Request& turn, std::string_view chat_template);

/// What is still to be done when it is known which model is to answer. BadRequest: its answer cannot be held to what a
/// strict function asks for.
engine::Status ready_for_tools(Ask& ask, const ModelText& text);

}  // namespace server
