// OfferedTools finds tools and the types of their arguments in a request.
#pragma once

#include "app/server/fields.h"

#include <string>

namespace server {

/// Returns the function of this name. `tools`: as in OpenAI's requests, an array of {"type": "function", "function":
/// {"name", "parameters"}}, of which anything may be missing. Null: there is none of this name.
const Json* offered_tool(const Json& tools, const std::string& name);

/// Says whether a tool's name begins with `name`.
bool begins_offered_tool(const Json& tools, const std::string& name);

/// Returns the types that a tool's schema allows for an argument: a word, or an array of several; null: any type.
/// References and choices in the schema are followed, so that a text that may be null is found in whatever form a
/// schema says so. Where only these say that it is a text, the result is an array of one word: call_grammar has such a
/// text written as JSON.
Json type_of_argument(const Json& tools, const std::string& name, const std::string& key);

}  // namespace server
