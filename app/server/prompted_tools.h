// Describes a request's tools to the model in words, where its template does not print tools.
#pragma once

#include "engine/engine.h"

#include <string_view>

namespace server {

/// Says whether the template prints tools itself, which is assumed where it contains the word "tools".
bool knows_tools(std::string_view chat_template);

/// Says whether a request has tools, calls or results.
bool speaks_of_tools(const engine::Request& turn);

/// Describes the tools where the template does not: the system message lists them and says how to call one; earlier
/// calls and results become text of messages.
void tell_of_tools(engine::Request& turn, std::string_view chat_template);

}  // namespace server
