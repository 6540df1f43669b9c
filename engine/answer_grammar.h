// Says whether a grammar can be followed, and turns a JSON Schema into one: the check of a request before its turn.
#pragma once

#include "engine/result.h"

#include <string>
#include <string_view>

namespace engine {

/// Says what of a schema may be left unheld. In JSON Schema a format that is not known asks for nothing.
enum class SchemaRigour {
    Strict,  // of texts: of a format and a pattern of the whole text, as zod writes both, one or the other
    // Of texts: formats that are not known, and of a pattern, a format and bounds of length all but one. Of other
    // values what compares them: uniqueItems, contains, minProperties and their like, propertyNames but for a list of
    // them, and a multipleOf that has too many multiples to be written down.
    Lenient,
};

/// GBNF that follows the schema: members in the order of `properties`, none but those where others are not asked for.
/// BadRequest names what is wrong with the schema, or what of it is not supported.
Result<std::string> gbnf_of_json_schema(std::string_view schema, SchemaRigour rigour = SchemaRigour::Strict);

/// Writes a text that stands as it is, without quotes, where the schema asks for one with a format that is known. Its
/// rules are among those that end every schema's. Empty: the schema asks for anything else.
Result<std::string> gbnf_of_bare_text(std::string_view schema);

/// BadRequest: the line and what is wrong there.
Status check_grammar(std::string_view gbnf);

}  // namespace engine
