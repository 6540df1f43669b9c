// Says whether a grammar can be followed, and turns a JSON Schema into one: the check of a request before its turn.
#pragma once

#include "engine/result.h"

#include <string>
#include <string_view>

namespace engine {

/// Says what becomes of words of a schema to which a grammar cannot hold an answer.
enum class SchemaRigour {
    Strict,  // they are refused; of a format and a pattern of the whole text, as zod writes both, one may be held
    // They are left out: unknown formats; of a pattern, a format and bounds of length all but the first that a grammar
    // can hold; uniqueItems, contains, minProperties and the like; propertyNames other than a list of names; and a
    // multipleOf with too many multiples to be written down.
    Lenient,
};

/// Returns GBNF that follows the schema: members in the order of `properties`, and others only where the schema asks
/// for them.
/// BadRequest names what is wrong with the schema, or what of it is not supported.
Result<std::string> gbnf_of_json_schema(std::string_view schema, SchemaRigour rigour = SchemaRigour::Strict);

/// Returns GBNF of a text as it stands, without quotes, where the schema asks for a string of a known format. Its rules
/// are among those that end every schema's GBNF. Empty: the schema asks for anything else.
Result<std::string> gbnf_of_bare_text(std::string_view schema);

/// Checks that a grammar can be followed. BadRequest names the line and what is wrong there.
Status check_grammar(std::string_view gbnf);

}  // namespace engine
