#include "app/server/call_grammar.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <set>
#include <utility>

namespace server {

namespace {

constexpr std::string_view kOwnLine = R"("\n"?)";  // an optional line break around parts on lines of their own

constexpr int kMostCalls = 16;  // a model that does not know when to end must not go on for ever

bool is_strict(const Json& function)
{
    return function.value("strict", Json()) == true;
}

/// Says how strictly a function's schema is followed: only `strict` ones are refused where that is not possible
/// completely.
engine::SchemaRigour rigour_of(const Json& function)
{
    return is_strict(function) ? engine::SchemaRigour::Strict : engine::SchemaRigour::Lenient;
}

/// Returns the schema of a function's parameters. Null: there is none, and a call may have any object.
Json parameters_of(const Json& function)
{
    const auto given = function.find("parameters");
    return given == function.end() || !given->is_object() || given->empty() ? Json() : *given;
}

/// Puts values in place of a form's marks, and does not look for marks in them.
std::string filled(std::string_view form, std::initializer_list<std::pair<std::string_view, std::string>> values)
{
    std::string text;
    while (!form.empty()) {
        const auto value = std::ranges::find_if(values, [&](const auto& one) { return form.starts_with(one.first); });
        text += value == values.end() ? std::string(form.substr(0, 1)) : value->second;
        form.remove_prefix(value == values.end() ? 1 : value->first.size());
    }
    return text;
}

bool has_any(const Json& schema, std::initializer_list<const char*> words)
{
    return std::ranges::any_of(words, [&](const char* word) { return schema.contains(word); });
}

/// Says whether a value may be a text, whatever else it may be.
bool may_be_text(const Json& schema)
{
    if (!schema.is_object())
        return true;
    const auto type = schema.find("type");
    if (type == schema.end())
        return !has_any(schema, {"enum", "const", "$ref", "anyOf", "oneOf", "allOf", "properties", "items"});
    return *type == "string" || (type->is_array() && std::ranges::find(*type, Json("string")) != type->end());
}

/// Returns the texts of an enum or a const; empty: the schema is neither, or not of texts.
std::vector<std::string> texts_of(const Json& schema)
{
    if (!schema.is_object() || schema.value("type", Json()) != "string")
        return {};
    std::vector<std::string> texts;
    const Json values = schema.contains("const") ? Json::array({schema["const"]}) : schema.value("enum", Json());
    for (const Json& value : values.is_array() ? values : Json::array())
        if (value.is_string())
            texts.push_back(value.get<std::string>());
    return texts;
}

/// Adds the definitions of the whole schema to a part of it, which may refer to them.
Json with_definitions(Json schema, const Json& root)
{
    if (schema.is_object())
        for (const char* name : {"$defs", "definitions"})
            if (root.contains(name) && !schema.contains(name))
                schema[name] = root[name];
    return schema;
}

}  // namespace

engine::Status check_parameters(const Json& function)
{
    const Json parameters = parameters_of(function);
    if (parameters.is_null())
        return {};
    if (const auto rule = GrammarText().schema(parameters); !rule)
        return tl::unexpected(rule.error());
    return {};
}

engine::Status add_call_rules(Ask& ask, std::string_view chat_template)
{
    const Json tools = Json::parse(ask.turn.tools_json, nullptr, false);
    if (!tools.is_array() || tools.empty())
        return {};
    const bool strict = std::ranges::any_of(tools, [](const Json& tool) { return is_strict(tool["function"]); });
    if (!ask.must_call && !strict && ask.callable.empty() && ask.turn.grammar.empty())
        return {};
    std::vector<Json> callable;
    const std::set<std::string> named(ask.callable.begin(), ask.callable.end());
    std::ranges::copy_if(tools, std::back_inserter(callable), [&](const Json& tool) {
        return named.empty() || named.contains(tool["function"]["name"].get<std::string>());
    });
    auto grammar = CallGrammar(ask, form_of_calls(chat_template)).write(callable);
    if (!grammar)
        return tl::unexpected(grammar.error());
    ask.turn.grammar = std::move(*grammar);
    return {};
}

engine::Result<std::string> CallGrammar::write(const std::vector<Json>& tools)
{
    std::string all;
    for (const Json& tool : tools) {
        Text call = call_of(tool["function"]);
        if (!call)
            return call;
        all += (all.empty() ? "" : " | ") + *call;
    }
    const std::string begun = calls(text_.rule(all));
    text_.add("root", form_.mark.empty() ? root_without_mark(begun) : root(begun));
    return text_.rules();
}

// ---- a call ----

engine::Result<std::string> CallGrammar::call_of(const Json& function)
{
    Text arguments = arguments_of(function);
    if (!arguments)
        return arguments;
    const std::string name = function["name"];
    return text_.rule(
        filled(form_.call,
               {{"$NAME", gbnf_text(name)}, {"$QUOTED", gbnf_text(text_of(Json(name)))}, {"$ARGUMENTS", *arguments}}));
}

/// Writes the rule of a function's arguments. A schema that cannot be followed is left out, unless the function is
/// strict.
engine::Result<std::string> CallGrammar::arguments_of(const Json& function)
{
    const Json parameters = parameters_of(function);
    if (form_.arguments)
        return members_of(function, parameters);
    if (parameters.is_null())
        return std::string("object");
    Text rule = text_.schema(parameters, rigour_of(function));
    return rule || is_strict(function) ? rule : std::string("object");
}

engine::Result<std::string> CallGrammar::members_of(const Json& function, const Json& parameters)
{
    const Json properties = parameters.is_object() ? parameters.value("properties", Json::object()) : Json::object();
    const Json required = parameters.is_object() ? parameters.value("required", Json::array()) : Json::array();
    std::set<std::string> needed;
    for (const Json& name : required.is_array() ? required : Json::array())
        if (name.is_string())
            needed.insert(name.get<std::string>());
    std::vector<std::pair<std::string, bool>> members;
    if (properties.is_object())
        for (const auto& [name, schema] : properties.items()) {
            Text one = member(function, parameters, name, schema);
            if (!one)
                return one;
            members.emplace_back(*one, needed.contains(name));
        }
    const bool open = members.empty() && !(parameters.is_object() && parameters.contains("additionalProperties") &&
                                           parameters["additionalProperties"] == false);
    return in_order(members, open ? any_member() : "");
}

engine::Result<std::string> CallGrammar::member(const Json& function, const Json& parameters, const std::string& name,
                                                const Json& schema)
{
    const ArgumentForm& form = *form_.arguments;
    const std::string head = filled(form.name, {{"$NAME", gbnf_text(name)}}) + " ";
    const std::string behind = " " + std::string(form.behind);
    const std::string line_end(form.value_open == kOwnLine ? kOwnLine : "");
    const auto within_marks = [&](const std::string& text) {
        return text_.rule(head + std::string(form.text_open) + " " + line_end + " " + text + " " + line_end + " " +
                          gbnf_text(form.text_close) + behind);
    };
    if (const auto texts = texts_of(schema); !texts.empty() && !form.text_close.empty()) {
        std::string any;
        for (const std::string& text : texts)
            any += (any.empty() ? "(" : " | ") + gbnf_text(text);
        return within_marks(any + ")");
    }
    if (!form.text_close.empty() && may_be_text(schema)) {
        if (!is_strict(function) || !schema.is_object() ||
            !has_any(schema, {"pattern", "format", "minLength", "maxLength"}))
            return text_.rule(head + std::string(form.text_open) + " " + text_value() + behind);
        if (text_.is_full())  // checked for each argument, since its format may be many times as long as its name
            return GrammarText::too_many();
        const Text text = engine::gbnf_of_bare_text(text_of(schema));
        if (text && !text->empty())
            return within_marks(*text);
        return engine::fail(engine::Error::Code::BadRequest,
                            "the text '" + name + "' of the strict function '" + function["name"].get<std::string>() +
                                "' has a pattern, a format or bounds, which cannot be held to in the way in which "
                                "this model calls tools");
    }
    if (text_.is_full())
        return GrammarText::too_many();
    Text value = text_.schema(with_definitions(schema, parameters), rigour_of(function));
    if (!value && is_strict(function))
        return value;
    return text_.rule(head + std::string(form.value_open) + " " + value.value_or("value") + " " + line_end + " " +
                      gbnf_text(form.value_close) + behind);
}

/// Returns the rule of a text up to the mark that closes it.
std::string CallGrammar::text_value()
{
    if (text_rule_.empty())
        text_rule_ = text_.text_until(form_.arguments->text_close);
    return text_rule_;
}

/// Returns the rule of an argument with any name, for tools that do not list theirs.
std::string CallGrammar::any_member()
{
    const ArgumentForm& form = *form_.arguments;
    if (any_member_rule_.empty())
        any_member_rule_ = text_.rule(
            filled(form.name, {{"$NAME", "[a-zA-Z_] [a-zA-Z0-9_-]{0,63}"}}) + " " + std::string(form.text_open) + " " +
            (form.text_close.empty() ? std::string("value") : text_value()) + " " + std::string(form.behind));
    return any_member_rule_;
}

/// Writes the rules of arguments in order. A separator stands before each argument but the first that is written: so
/// there are two rules for the rest from each argument on, with and without it.
std::string CallGrammar::in_order(const std::vector<std::pair<std::string, bool>>& members, const std::string& others)
{
    const std::string between(form_.arguments->between);
    const std::string another = "(" + between + (between.empty() ? "" : " ") + others + ")*";
    std::string first = others.empty() ? "\"\"" : "(" + others + " " + another + ")?";
    std::string later = others.empty() ? "\"\"" : another;
    for (auto at = members.rbegin(); at != members.rend(); ++at) {
        const auto& [rule, required] = *at;
        const std::string next = text_.rule(later);
        std::string with = rule;
        with.append(" ").append(next);
        later = between;
        later.append(" ").append(with);
        if (!required) {
            later.append(" | ").append(next);
            with.append(" | ").append(text_.rule(first));
        }
        first = std::move(with);
    }
    return text_.rule(first);
}

// ---- the answer ----

/// Writes the rule of all calls, from behind the mark on.
std::string CallGrammar::calls(const std::string& call)
{
    const auto part = [](std::string_view gbnf) { return gbnf.empty() ? std::string() : std::string(gbnf) + " "; };
    const bool several = !form_.between.empty() && !ask_.one_call;
    const std::string more =
        several ? " (" + std::string(form_.between) + " " + call + "){0," + std::to_string(kMostCalls - 1) + "}" : "";
    if (form_.mark.empty() && several)
        return text_.rule(call + " | \"[\" ws " + call + more + " ws \"]\"");
    return text_.rule(part(form_.head) + call + more + " " + std::string(form_.tail) + " ws");
}

std::string CallGrammar::root(const std::string& calls)
{
    if (!ask_.must_call && ask_.turn.grammar.empty())
        return text_.text_with(form_.mark, calls);
    const auto part = [](std::string_view gbnf) { return gbnf.empty() ? std::string() : std::string(gbnf) + " "; };
    std::string before = part(form_.before);
    if (form_.before.find("$THOUGHT") != std::string_view::npos)
        before = filled(before, {{"$THOUGHT", text_.text_until("<|end|>")}});
    const std::string called = part(form_.before_mark) + gbnf_text(form_.mark) + " " + calls;
    if (ask_.must_call)
        return before + called;
    return before + "(" + called + " | " + part(form_.before_answer) + text_.root_of(ask_.turn.grammar) + ")";
}

/// Writes the root for calls without a mark: an answer that begins like a call has to be one.
std::string CallGrammar::root_without_mark(const std::string& calls)
{
    if (ask_.must_call)
        return calls;
    if (!ask_.turn.grammar.empty())
        return calls + " | " + text_.root_of(ask_.turn.grammar);
    // Llama's calls may also come after this mark.
    return R"([ \t\r\n]* ()" + calls + " | " + text_.text_with("<|python_tag|>", calls, "{[ \t\r\n") + ")";
}

}  // namespace server
