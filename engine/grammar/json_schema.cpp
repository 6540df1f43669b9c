// The front door of grammars: the text of a schema or of rules in, rules or a sentence out.
#include "engine/answer_grammar.h"
#include "engine/caught.h"
#include "engine/grammar/grammar.h"
#include "engine/grammar/grammar_states.h"
#include "engine/grammar/schema_scalars.h"
#include "engine/grammar/schema_writer.h"

namespace engine {

namespace {

constexpr int kMostBrackets = 200;  // within each other: what takes a JSON value apart calls itself

bool nested_too_deeply(std::string_view json)
{
    int depth = 0;
    bool in_string = false;
    for (std::size_t i = 0; i < json.size(); ++i) {
        if (in_string && json[i] == '\\')
            ++i;
        else if (json[i] == '"')
            in_string = !in_string;
        else if (!in_string && (json[i] == '{' || json[i] == '['))
            ++depth;
        else if (!in_string && (json[i] == '}' || json[i] == ']'))
            --depth;
        if (depth > kMostBrackets)
            return true;
    }
    return false;
}

}  // namespace

Result<std::string> gbnf_of_json_schema(std::string_view schema, SchemaRigour rigour)
try {
    if (schema.size() > Grammar::kMostText)
        return refuse_schema("the schema is larger than 1 MiB");
    if (nested_too_deeply(schema))
        return refuse_schema("the schema is nested too deeply");
    Schema root = Schema::parse(schema, nullptr, false);
    if (root.is_discarded())
        return refuse_schema("the schema is no JSON");
    auto gbnf = SchemaWriter(std::move(root), rigour).write();
    if (!gbnf)
        return gbnf;
    if (const auto grammar = Grammar::parse(*gbnf); !grammar)  // it is endless, or too large
        return refuse_schema("the schema asks for what cannot be written: " + grammar.error().what);
    return gbnf;
} catch (...) {
    return caught("for this schema");
}

Result<std::string> gbnf_of_bare_text(std::string_view schema)
try {
    return nested_too_deeply(schema) ? std::string() : gbnf_of_bare_format(Schema::parse(schema, nullptr, false));
} catch (...) {
    return caught("for this schema");
}

Status check_grammar(std::string_view gbnf)
try {
    const auto grammar = Grammar::parse(gbnf);
    if (!grammar)
        return tl::unexpected(grammar.error());
    if (GrammarStates(*grammar).gave_up())
        return fail(Error::Code::BadRequest, "the grammar can be read in so many ways at once that it takes too long");
    return {};
} catch (...) {
    return caught("for this grammar");
}

}  // namespace engine
