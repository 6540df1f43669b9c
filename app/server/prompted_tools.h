// Makes a request's tools known to the model in words, where its template has none for them.
#pragma once

#include "engine/engine.h"

#include <string_view>

namespace server {

/// Says whether the template tells the model of tools itself: one that has a word for them prints them.
bool knows_tools(std::string_view chat_template);

/// Says whether there are tools, or calls of any.
bool speaks_of_tools(const engine::Request& turn);

/// Tells the model of the tools where its template does not: the system's message says which tools there are and how to
/// call one, and earlier calls and what came of them are messages of their own.
void tell_of_tools(engine::Request& turn, std::string_view chat_template);

}  // namespace server
