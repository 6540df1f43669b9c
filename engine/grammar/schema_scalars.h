// Writes strings and numbers of a JSON Schema as GBNF.
#pragma once

#include "engine/answer_grammar.h"
#include "engine/grammar/schema_merge.h"
#include "engine/result.h"

#include <string>

namespace engine {

/// Returns BadRequest with this sentence.
tl::unexpected<Error> refuse_schema(std::string what);

/// Reads a count from `word`; `otherwise` where it is missing. BadRequest: it is negative, no
/// integer, or more than a grammar may repeat something.
Result<int> schema_count(const Schema& s, const char* word, int otherwise);
/// Writes how often something is repeated, as GBNF has it behind that; most -1: without an end.
std::string gbnf_of_repeats(int least, int most);

Result<std::string> gbnf_of_string(const Schema& s, SchemaRigour rigour);
/// Writes a text with a format that is known, without quotes; empty: it is another text, or more is asked for.
std::string gbnf_of_bare_format(const Schema& s);
Result<std::string> gbnf_of_integer(const Schema& s, SchemaRigour rigour);
/// Bounds and 'multipleOf' may have six digits behind the point.
Result<std::string> gbnf_of_number(const Schema& s, SchemaRigour rigour);

}  // namespace engine
