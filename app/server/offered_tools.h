// OfferedTools finds what a request says of the tools that a model may call.
#pragma once

#include "app/server/fields.h"

#include <string>

namespace server {

/// `tools`: as in OpenAI's requests, an array of {"type": "function", "function": {"name", "parameters"}}, of which
/// anything may be missing. Null: none is named so.
const Json* offered_tool(const Json& tools, const std::string& name);

/// Says whether the name of one of them begins so.
bool begins_offered_tool(const Json& tools, const std::string& name);

/// Returns which types a tool's schema allows an argument: a word, or an array of several; null: it may be anything.
/// What stands in references and choices counts, so that a text that may be null is found out however a schema says it.
/// Where only they say that it is a text it is an array of one: call_grammar has such a text written as JSON.
Json type_of_argument(const Json& tools, const std::string& name, const std::string& key);

}  // namespace server
