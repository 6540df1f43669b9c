// Says whether a grammar can be followed, and turns a JSON Schema into one: the check of a request before its turn.
#pragma once

#include "engine/result.h"

#include <string>
#include <string_view>

namespace engine {

/// GBNF that follows the schema: members in the order of `properties`, none but those where others are not asked for.
/// BadRequest names what is wrong with the schema, or what of it is not supported.
Result<std::string> gbnf_of_json_schema(std::string_view schema);

/// BadRequest: the line and what is wrong there.
Status check_grammar(std::string_view gbnf);

}  // namespace engine
