#include "app/server/call_shapes.h"

#include "app/server/json_brackets.h"
#include "app/server/loose_values.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace server {

namespace {

using Found = ReadCalls::Found;

constexpr std::string_view kBlank = " \t\r\n";
constexpr std::size_t kLongestHead = 300;  // what stands before a call's arguments is no longer

ReadCalls not_yet()
{
    return {Found::NotYet};
}

ReadCalls no_calls()
{
    return {};
}

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(kBlank);
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kBlank) + 1 - first);
}

/// How long the object or array is that the text begins with; nothing: it is not whole yet.
std::optional<std::size_t> json_bytes(std::string_view text)
{
    JsonBrackets brackets;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const int depth = brackets.feed(text[i]);
        if ((text[i] == '}' || text[i] == ']') && depth <= 0 && !brackets.in_string())
            return i + 1;
    }
    return std::nullopt;
}

const Json* tool(const Json& tools, const std::string& name)
{
    const Json::json_pointer at("/function/name");
    for (const Json& one : tools)
        if (one.is_object() && one.contains(at) && one.at(at) == name)
            return &one;
    return nullptr;
}

bool begins_a_tool(const Json& tools, const std::string& name)
{
    const Json::json_pointer at("/function/name");
    return std::ranges::any_of(tools, [&](const Json& one) {
        return one.is_object() && one.contains(at) && one.at(at).is_string() &&
               one.at(at).get<std::string>().starts_with(name);
    });
}

// ---- JSON: {"name", "arguments"}, or an array of such ----

std::optional<WrittenCall> call_in(const Json& json)
{
    for (const char* name : {"name", "tool_name"}) {
        if (!json.is_object() || !json.contains(name) || !json[name].is_string())
            continue;
        WrittenCall call{json[name], Json::object()};
        for (const char* key : {"arguments", "parameters"})
            if (const auto given = json.find(key); given != json.end()) {
                // Some write the object as a text.
                call.arguments = given->is_string() ? Json::parse(given->get<std::string>(), nullptr, false) : *given;
                return call.arguments.is_object() ? std::optional(std::move(call)) : std::nullopt;
            }
        return call;
    }
    return std::nullopt;
}

ReadCalls read_json(const CallBody& body)
{
    if (body.text.front() != '{' && body.text.front() != '[')
        return no_calls();
    const auto size = json_bytes(body.text);
    if (!size)
        return not_yet();
    const Json json = Json::parse(body.text.substr(0, *size), nullptr, false);
    ReadCalls read{Found::Calls, {}, *size};
    for (const Json& one : json.is_array() ? json : Json::array({json})) {
        auto call = call_in(one);
        if (!call)
            return no_calls();
        read.calls.push_back(std::move(*call));
    }
    return read.calls.empty() ? no_calls() : read;
}

/// Some say whose function it is, Kimi how many were called before it.
std::string plain_name(std::string_view name)
{
    constexpr std::string_view kFunctions = "functions.";
    name = trimmed(name);
    if (name.starts_with(kFunctions))
        name.remove_prefix(kFunctions.size());
    return std::string(name.substr(0, name.find(':')));
}

/// A name, and the object that stands `from` there on.
ReadCalls read_arguments(const CallBody& body, std::string name, std::size_t from)
{
    const std::string_view text = body.text.substr(from);
    const auto size = json_bytes(text);
    if (!size)
        return not_yet();
    Json arguments = Json::parse(text.substr(0, *size), nullptr, false);
    if (!arguments.is_object() || name.empty())
        return no_calls();
    return {Found::Calls, {{std::move(name), std::move(arguments)}}, from + *size};
}

/// Mistral's NAME[ARGS]{...}, and NAME{...}.
ReadCalls read_named(const CallBody& body)
{
    constexpr std::string_view kArguments = "[ARGS]", kId = "[CALL_ID]";
    if (body.text.front() == '[' || body.text.front() == '{')
        return read_json(body);
    const std::size_t brace = body.text.find('{');
    const std::size_t name_end = body.text.find_first_of("[{ \t\r\n");
    if (brace == std::string_view::npos)
        return body.text.size() > kLongestHead ? no_calls() : not_yet();
    const std::string_view between = trimmed(body.text.substr(name_end, brace - name_end));
    if (!between.empty() && !between.ends_with(kArguments) && !between.starts_with(kId))
        return no_calls();
    return read_arguments(body, std::string(body.text.substr(0, name_end)), brace);
}

/// gpt-oss: behind "to=" a name, what else its head says, "<|message|>" and an object.
ReadCalls read_addressed(const CallBody& body)
{
    constexpr std::string_view kMessage = "<|message|>";
    const std::size_t message = body.text.find(kMessage);
    if (message == std::string_view::npos)
        return body.text.size() > kLongestHead ? no_calls() : not_yet();
    const std::string_view head = body.text.substr(0, message);
    const std::size_t brace = body.text.find_first_not_of(kBlank, message + kMessage.size());
    if (brace == std::string_view::npos)
        return not_yet();
    if (body.text[brace] != '{')
        return no_calls();
    return read_arguments(body, plain_name(head.substr(0, head.find_first_of(" <"))), brace);
}

// ---- what is read when the mark that closes it has come, or the answer's end ----

/// Nothing: it has not.
std::optional<std::string_view> inside(const CallBody& body)
{
    const std::size_t end = body.text.find(body.close);
    return end == std::string_view::npos && !body.ended ? std::nullopt : std::optional(body.text.substr(0, end));
}

/// From here to the mark, and on behind it; nothing: there is no such mark.
std::optional<std::string_view> cut_off(std::string_view& text, std::string_view mark)
{
    const std::size_t end = text.find(mark);
    if (end == std::string_view::npos)
        return std::nullopt;
    const std::string_view piece = text.substr(0, end);
    text.remove_prefix(end + mark.size());
    return piece;
}

/// A call between marks: a name, a mark, an object.
struct Section {
    std::string_view open, between, close;
};
constexpr Section kDeepSeek = {"<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"};
constexpr Section kKimi = {"<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"};

template <const Section& kMarks>
ReadCalls read_sections(const CallBody& body)
{
    const auto all = inside(body);
    if (!all)
        return not_yet();
    ReadCalls read{Found::Calls, {}, all->size()};
    for (std::string_view text = *all; cut_off(text, kMarks.open);) {
        auto name = cut_off(text, kMarks.between);
        if (name && trimmed(*name) == "function")  // DeepSeek R1 says that there, and the name on the line behind it
            name = cut_off(text, "\n");
        const std::size_t brace = std::min(text.find('{'), text.size());
        const auto size = json_bytes(text.substr(brace));
        Json arguments = size ? Json::parse(text.substr(brace, *size), nullptr, false) : Json();
        if (!name || !arguments.is_object())
            return no_calls();
        read.calls.push_back({plain_name(*name), std::move(arguments)});
        text.remove_prefix(brace + *size);
    }
    return read.calls.empty() ? no_calls() : read;
}

/// A call in tags: a name, and each argument by itself.
struct Tags {
    std::string_view call, name_end;
    std::string_view key, key_end;      // behind which may stand what kind of value it is...
    std::string_view value, value_end;  // ...before it begins
    std::string_view call_end;
};
constexpr Tags kQwen = {"<function=", ">", "<parameter=", ">", "", "</parameter>", "</function>"};
constexpr Tags kInvoke = {"<invoke name=\"", "\">", "<parameter name=\"", "\"", ">", "</parameter>", "</invoke>"};
constexpr Tags kDsml = {
    "<｜DSML｜invoke name=\"", "\">", "<｜DSML｜parameter name=\"", "\"", ">", "</｜DSML｜parameter>",
    "</｜DSML｜invoke>"};

/// Tags know no types: a text stays one where the tool's schema or the tag says so, or where it is nothing else.
Json typed(const CallBody& body, const std::string& name, const std::string& key, std::string_view text, bool is_text)
{
    const Json::json_pointer at("/function/parameters/properties");
    if (const Json* known = tool(body.tools, name); known && known->contains(at))
        if (const Json& all = known->at(at); all.contains(key) && all[key].is_object())
            is_text = is_text || all[key].value("type", Json()) == "string";
    Json parsed = is_text ? Json() : Json::parse(text, nullptr, false);
    return is_text || parsed.is_discarded() ? Json(std::string(text)) : parsed;
}

/// A value on lines of its own is without them.
std::string_view without_line_ends(std::string_view value)
{
    if (value.starts_with('\n'))
        value.remove_prefix(1);
    if (value.ends_with('\n'))
        value.remove_suffix(1);
    return value;
}

/// Nothing: they are broken.
std::optional<Json> tagged_arguments(const CallBody& body, const std::string& name, std::string_view text,
                                     const Tags& tags)
{
    Json arguments = Json::object();
    while (cut_off(text, tags.key)) {
        const auto key = cut_off(text, tags.key_end);
        const auto kind = cut_off(text, tags.value);
        const auto value = cut_off(text, tags.value_end);
        if (!key || !kind || !value)
            return std::nullopt;
        const std::string called(trimmed(*key));
        const bool is_text = kind->find("string=\"true\"") != std::string_view::npos;
        arguments[called] = typed(body, name, called, without_line_ends(*value), is_text);
    }
    return arguments;
}

template <const Tags& kTags>
ReadCalls read_tags(const CallBody& body)
{
    if (!body.text.starts_with(kTags.call))
        return kTags.call.starts_with(body.text) ? not_yet() : no_calls();
    const auto all = inside(body);
    if (!all)
        return not_yet();
    ReadCalls read{Found::Calls, {}, all->size()};
    for (std::string_view text = *all; cut_off(text, kTags.call);) {
        const auto call = cut_off(text, kTags.call_end);
        if (!call && all->size() == body.text.size())
            return no_calls();  // nothing says that it is whole
        std::string_view arguments = call ? *call : std::exchange(text, {});
        const auto name = cut_off(arguments, kTags.name_end);
        if (!name)
            return no_calls();
        const std::string called(trimmed(*name));
        auto read_arguments = tagged_arguments(body, called, arguments, kTags);
        if (!read_arguments)
            return no_calls();
        read.calls.push_back({called, std::move(*read_arguments)});
    }
    return read.calls.empty() ? no_calls() : read;
}

/// GLM: the call has the marks itself, and its name ends where the first argument begins.
ReadCalls read_glm(const CallBody& body)
{
    constexpr Tags kArguments = {"", "", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", ""};
    const std::string name(body.text.substr(0, body.text.find_first_of("< \t\r\n")));
    const std::size_t end = body.text.find(body.close);
    if (end == std::string_view::npos)
        return !body.ended && begins_a_tool(body.tools, name) ? not_yet() : no_calls();
    auto arguments = tagged_arguments(body, name, body.text.substr(name.size(), end - name.size()), kArguments);
    if (!arguments || !tool(body.tools, name))
        return no_calls();
    return {Found::Calls, {{name, std::move(*arguments)}}, end};
}

/// Behind one mark Hermes, Qwen 2.5 and 3 and Granite 4 write JSON, Qwen3-Coder and later tags, GLM tags of its own.
ReadCalls read_marked(const CallBody& body)
{
    if (body.text.front() == '{' || body.text.front() == '[')
        return read_json(body);
    return body.text.front() == '<' ? read_tags<kQwen>(body) : read_glm(body);
}

// ---- values without quotes around their names ----

/// Gemma 4's call:NAME{key:value,...}.
ReadCalls read_gemma(const CallBody& body)
{
    LooseValues values(body.text);
    const bool begins = values.take("call") && values.take(":");
    auto name = begins ? values.name() : std::nullopt;
    auto arguments = name ? values.value() : std::nullopt;
    if (arguments && arguments->is_object())
        return {Found::Calls, {{std::move(*name), std::move(*arguments)}}, values.bytes_read()};
    return !arguments && values.ran_out() ? not_yet() : no_calls();
}

/// NAME(key=value, ...), behind the name.
std::optional<Json> pythons_arguments(LooseValues& values)
{
    Json arguments = Json::object();
    if (!values.take("("))
        return std::nullopt;
    while (!values.take(")")) {
        if (!arguments.empty() && !values.take(","))
            return std::nullopt;
        const auto key = values.name();
        auto value = key && values.take("=") ? values.value() : std::nullopt;
        if (!value)
            return std::nullopt;
        arguments[*key] = std::move(*value);
    }
    return arguments;
}

/// A list of Python's calls.
ReadCalls read_python(const CallBody& body)
{
    LooseValues values(body.text);
    if (!values.take("["))
        return no_calls();
    if (values.take("{"))
        return read_json(body);
    ReadCalls read{Found::Calls};
    while (!values.take("]")) {
        const bool goes_on = read.calls.empty() || values.take(",");
        auto name = goes_on ? values.name() : std::nullopt;
        auto arguments = name ? pythons_arguments(values) : std::nullopt;
        if (!arguments)
            return values.ran_out() ? not_yet() : no_calls();
        read.calls.push_back({std::move(*name), std::move(*arguments)});
    }
    read.bytes = values.bytes_read();
    return read.calls.empty() ? no_calls() : read;
}

constexpr auto kShapes = std::to_array<CallShape>({
    {"<tool_call>", "</tool_call>", read_marked},
    {"[TOOL_CALLS]", "", read_named},                           // Mistral: an array, or NAME[ARGS]{...}
    {"<|python_tag|>", "", read_json},                          // Llama 3.1 and later
    {"<|tool_call|>", "", read_json},                           // Granite 3, Phi-4
    {"<TOOLCALL>", "</TOOLCALL>", read_json},                   // Nemotron Nano 2
    {"<|START_ACTION|>", "<|END_ACTION|>", read_json},          // Command R7B and later
    {"<|tool_call_start|>", "<|tool_call_end|>", read_python},  // LFM2
    {"<|tool_call>", "<tool_call|>", read_gemma},               // Gemma 4
    {"<｜tool▁calls▁begin｜>", "<｜tool▁calls▁end｜>", read_sections<kDeepSeek>},  // DeepSeek V3, V3.1, R1
    {"<｜DSML｜function_calls>", "</｜DSML｜function_calls>", read_tags<kDsml>},   // DeepSeek V3.2
    {"<|tool_calls_section_begin|>", "<|tool_calls_section_end|>", read_sections<kKimi>},
    {"<minimax:tool_call>", "</minimax:tool_call>", read_tags<kInvoke>},
    {"<seed:tool_call>", "</seed:tool_call>", read_tags<kQwen>},
    // gpt-oss: in the first message of an answer, or in a further one
    {"to=functions.", "", read_addressed},
    {"<|channel|>commentary to=", "", read_addressed},
    {"<|channel|>analysis to=", "", read_addressed},
    {"<|start|>assistant to=", "", read_addressed},
    {"<|start|>assistant<|channel|>commentary to=", "", read_addressed},
    {"<|start|>assistant<|channel|>analysis to=", "", read_addressed},
    {"<|end|><|start|>assistant to=", "", read_addressed},
    {"<|end|><|start|>assistant<|channel|>commentary to=", "", read_addressed},
    {"<|end|><|start|>assistant<|channel|>analysis to=", "", read_addressed},
});

}  // namespace

std::span<const CallShape> call_shapes()
{
    return kShapes;
}

ReadCalls read_bare_calls(const CallBody& body)
{
    ReadCalls read = body.text.front() == '[' ? read_python(body) : read_json(body);
    const auto known = [&](const WrittenCall& call) { return tool(body.tools, call.name) != nullptr; };
    return read.found != Found::Calls || std::ranges::all_of(read.calls, known) ? read : no_calls();
}

}  // namespace server
