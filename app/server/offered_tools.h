// OfferedTools finds what a request says of the tools that a model may call.
#pragma once

#include "app/server/fields.h"

#include <string>

namespace server {

/// `tools`: as in OpenAI's requests, an array of {"type": "function", "function": {"name", "parameters"}}, of which
/// anything may be missing. Null: none is named so.
const Json* offered_tool(const Json& tools, const std::string& name);

/// Whether the name of one of them begins so.
bool begins_offered_tool(const Json& tools, const std::string& name);

/// What a tool's schema says of the argument's type: a word, or an array of them; null: nothing.
Json type_of_argument(const Json& tools, const std::string& name, const std::string& key);

}  // namespace server
