#include "app/server/tagged_calls.h"

#include "app/server/offered_tools.h"

#include <algorithm>
#include <utility>

namespace server {

namespace {

/// Holds the tags of a call: around its name, around each argument, and at its end.
struct Tags {
    std::string_view call, name_end;
    std::string_view key, key_end;      // the kind of the value may stand between `key_end`...
    std::string_view value, value_end;  // ...and `value`
    std::string_view call_end;
};
constexpr Tags kQwen = {"<function=", ">", "<parameter=", ">", "", "</parameter>", "</function>"};
constexpr Tags kMiniMax = {"<invoke name=\"", "\">", "<parameter name=\"", "\"", ">", "</parameter>", "</invoke>"};
constexpr Tags kDsml = {
    "<｜DSML｜invoke name=\"", "\">", "<｜DSML｜parameter name=\"", "\"", ">", "</｜DSML｜parameter>",
    "</｜DSML｜invoke>"};
constexpr Tags kGlm = {"", "", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "</tool_call>"};

bool is_of_type(const Json& value, const Json& type)
{
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
           (type == "null" && value.is_null()) || (type == "number" && value.is_number()) ||
           (type == "integer" && value.is_number_integer());
}

bool allows(const Json& type, const Json& value)
{
    return std::ranges::any_of(type, [&](const Json& one) { return is_of_type(value, one); });
}

/// Returns None, True and False, which some models write, as JSON's values; any other text as a text.
Json of_python(std::string_view text)
{
    return text == "None"    ? Json()
           : text == "True"  ? Json(true)
           : text == "False" ? Json(false)
                             : Json(std::string(text));
}

/// Returns a value as JSON by its type in the schema, since tags name no types: a text stays one where the schema
/// allows nothing else that it could be.
std::string typed(const Json& type, std::string_view text)
{
    const Json parsed = Json::parse(text, nullptr, false), word = of_python(text);
    if (parsed.is_discarded())
        return text_of(allows(type, word) ? word : Json(std::string(text)));
    const bool text_may_be = type.is_array() && std::ranges::find(type, Json("string")) != type.end();
    return text_of(text_may_be && !allows(type, parsed) ? Json(std::string(text)) : parsed);
}

bool is_text_or_null(const Json& type)
{
    return type == Json({"string", "null"}) || type == Json({"null", "string"});
}

bool is_null(std::string_view text)
{
    return text == "null" || text == "None";
}

/// Says whether a text may be the beginning of null.
bool begins_null(std::string_view text)
{
    return std::string_view("null").starts_with(text) || std::string_view("None").starts_with(text);
}

/// Returns a text as it stands inside of JSON's quotes.
std::string escaped(std::string_view text)
{
    constexpr std::string_view kShort = "\"\\\b\f\n\r\t", kLetters = "\"\\bfnrt", kHex = "0123456789abcdef";
    std::string all;
    all.reserve(text.size());
    for (const char c : text) {
        const std::size_t letter = kShort.find(c);
        if (letter != std::string_view::npos)
            (all += '\\') += kLetters[letter];
        else if (static_cast<unsigned char>(c) < 0x20)
            ((all += "\\u00") += kHex[std::size_t(c) >> 4]) += kHex[std::size_t(c) & 15];
        else
            all += c;
    }
    return all;
}

/// Returns a value without the line breaks around it, where it stands on lines of its own. `end`: the mark behind it, a
/// part of which may be there.
std::string_view own_lines(std::string_view value, std::string_view end, bool whole)
{
    if (value.starts_with('\n'))
        value.remove_prefix(1);
    for (std::size_t size = std::min(end.size() - 1, value.size()); size > 0 && !whole; --size)
        if (end.starts_with(value.substr(value.size() - size))) {
            value.remove_suffix(size);
            break;
        }
    if (value.ends_with('\n'))
        value.remove_suffix(1);
    return value;
}

/// Reads a call's arguments, as far as they have come, and removes them from `text`. A value that is a text is returned
/// while it is being written, other values when they are whole. NotBegun: no value has begun.
enum class Arguments { NotBegun, Begun, Whole };
Arguments read_tagged(const CallBody& body, const Tags& tags, std::string_view& text, WrittenCall& call)
{
    call.whole = false;
    for (;;) {
        const Arguments so_far = call.arguments.empty() ? Arguments::NotBegun : Arguments::Begun;
        const std::size_t key = text.find(tags.key), end = std::min(text.find(tags.call_end), text.find(body.close));
        if (end < key) {
            text.remove_prefix(end + (text.substr(end).starts_with(tags.call_end) ? tags.call_end.size() : 0));
            call.arguments += call.arguments.empty() ? "{}" : "}";
            call.whole = true;
            return Arguments::Whole;
        }
        if (key == std::string_view::npos)
            return so_far;
        text.remove_prefix(key + tags.key.size());
        const auto name = cut_off(text, tags.key_end);
        const auto kind = name ? cut_off(text, tags.value) : std::nullopt;
        if (!kind)
            return so_far;
        const std::string called(without_blanks_around(*name));
        const Json type = type_of_argument(body.tools, call.name, called);
        const bool says_text = kind->find("string=\"true\"") != std::string_view::npos || type == "string";
        const bool may_be_null = !says_text && is_text_or_null(type);
        const std::size_t close = text.find(tags.value_end);
        const bool whole = close != std::string_view::npos;
        if (!whole && !says_text && !may_be_null)
            return so_far;
        const std::string_view value = own_lines(text.substr(0, close), tags.value_end, whole);
        if (!whole && may_be_null && begins_null(value))
            return so_far;
        const bool is_text = says_text || (may_be_null && !is_null(value));
        call.arguments += (call.arguments.empty() ? "{" : ",") + text_of(Json(called)) + ":";
        call.arguments += is_text ? '"' + escaped(value) + (whole ? "\"" : "") : typed(type, value);
        if (!whole)
            return Arguments::Begun;
        text.remove_prefix(close + tags.value_end.size());
    }
}

ReadCalls read_tags(const CallBody& body, const Tags& tags)
{
    if (!body.text.starts_with(tags.call))
        return tags.call.starts_with(body.text) ? calls_not_yet() : no_calls();
    std::vector<WrittenCall> calls;
    for (std::string_view text = body.text;;) {
        const std::size_t next = text.find(tags.call);
        if (next == std::string_view::npos || text.find(body.close) < next)
            return calls_so_far(body, std::move(calls), text);
        text.remove_prefix(next + tags.call.size());
        const auto name = cut_off(text, tags.name_end);
        WrittenCall call{name ? std::string(without_blanks_around(*name)) : "", {}};
        const Arguments read = name ? read_tagged(body, tags, text, call) : Arguments::NotBegun;
        if (read != Arguments::NotBegun)
            calls.push_back(std::move(call));
        if (read != Arguments::Whole)  // without an end mark nothing says that the call is whole
            return body.ended && calls.empty() ? no_calls() : ReadCalls{ReadCalls::Found::NotYet, std::move(calls)};
    }
}

}  // namespace

ReadCalls read_qwen_calls(const CallBody& body)
{
    return read_tags(body, kQwen);
}

ReadCalls read_minimax_calls(const CallBody& body)
{
    return read_tags(body, kMiniMax);
}

ReadCalls read_dsml_calls(const CallBody& body)
{
    return read_tags(body, kDsml);
}

ReadCalls read_glm_call(const CallBody& body)
{
    const std::size_t name_end = body.text.find_first_of("< \t\r\n");
    WrittenCall call{std::string(body.text.substr(0, name_end)), {}};
    if (name_end == std::string_view::npos)
        return !body.ended && begins_offered_tool(body.tools, call.name) ? calls_not_yet() : no_calls();
    if (!offered_tool(body.tools, call.name))
        return no_calls();
    std::string_view text = body.text.substr(name_end);
    const Arguments read = read_tagged(body, kGlm, text, call);
    if (read == Arguments::NotBegun)
        return body.ended ? no_calls() : calls_not_yet();
    if (read == Arguments::Begun)
        return {ReadCalls::Found::NotYet, {std::move(call)}};
    return {ReadCalls::Found::Calls, {std::move(call)}, body.text.size() - text.size() - body.close.size()};
}

}  // namespace server
