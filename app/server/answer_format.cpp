#include "app/server/answer_format.h"

#include "engine/answer_grammar.h"

#include <utility>

namespace server {

namespace {

/// Takes a schema as the grammar of the answer. `strict`: a schema that the grammar cannot follow completely is
/// refused.
void take_schema(Fields& fields, const char* name, const Json& schema, engine::Request& turn, bool strict = false)
{
    auto grammar = engine::gbnf_of_json_schema(text_of(schema),
                                               strict ? engine::SchemaRigour::Strict : engine::SchemaRigour::Lenient);
    if (grammar)
        turn.grammar = std::move(*grammar);
    else
        fields.refuse(name, "cannot be followed: " + grammar.error().what);
}

void take_any_object(Fields& fields, const char* name, engine::Request& turn)
{
    take_schema(fields, name, {{"type", "object"}}, turn);
}

/// Reads {"type": ...} with the schema in the same object, or, as in chat completions, in the object "json_schema".
void take_format(Fields& fields, const char* name, const Json& format, engine::Request& turn)
{
    Fields inner(format);
    const std::string type = inner.text("type").value_or("");
    const Json* beside = inner.find("json_schema");
    const Json* schema = beside ? Fields(*beside).find("schema") : inner.find("schema");
    if (type == "text")
        return;
    if (type == "json_schema" && schema)
        take_schema(fields, name, *schema, turn, (beside ? *beside : format).value("strict", Json()) == true);
    else if (type == "json_schema")
        fields.refuse(name, "has no schema");
    else if (type == "json_object" && schema)
        take_schema(fields, name, *schema, turn);
    else if (type == "json_object")
        take_any_object(fields, name, turn);
    else
        fields.refuse(name, "must have the type text, json_object or json_schema");
}

void take_grammar(Fields& fields, const std::string& grammar, engine::Request& turn)
{
    if (!turn.tools_json.empty())  // the rules of calls cannot be joined with any other grammar
        fields.refuse("grammar", "is not supported together with tools", Refusal::Kind::NotSupported);
    if (!turn.grammar.empty())
        fields.refuse("grammar", "cannot be given together with a schema");
    if (const auto ok = engine::check_grammar(grammar); !ok)
        fields.refuse("grammar", "cannot be followed: " + ok.error().what);
    turn.grammar = grammar;
}

}  // namespace

void read_answer_format(Fields& fields, engine::Request& turn)
{
    if (const Json* format = fields.find("response_format"))
        take_format(fields, "response_format", *format, turn);
    if (const Json* schema = fields.find("json_schema"); schema && (*schema == true || !schema->empty()))
        take_schema(fields, "json_schema", *schema, turn);
    if (const auto grammar = fields.text("grammar"); grammar && !grammar->empty())
        take_grammar(fields, *grammar, turn);
}

void read_text_format(Fields& fields, engine::Request& turn)
{
    if (const Json* text = fields.object("text"))
        if (const Json* format = Fields(*text).find("format"))
            take_format(fields, "text.format", *format, turn);
}

void read_output_format(Fields& fields, engine::Request& turn)
{
    const Json* config = fields.object("output_config");
    const Json* format = config ? Fields(*config).find("format") : nullptr;
    if (format)
        take_format(fields, "output_config.format", *format, turn);
    else if (const Json* earlier = fields.find("output_format"))
        take_format(fields, "output_format", *earlier, turn);
}

void read_ollama_format(Fields& fields, engine::Request& turn)
{
    const Json* format = fields.find("format");
    if (!format || is_empty_text(*format))
        return;
    if (*format == "json")
        take_any_object(fields, "format", turn);
    else if (format->is_object())
        take_schema(fields, "format", *format, turn);
    else
        fields.refuse("format", "must be \"json\" or a JSON schema");
}

}  // namespace server
