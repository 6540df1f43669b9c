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

/// Whether an object begins here that JSON allows; nothing: it takes more text to say.
std::optional<bool> begins_object(std::string_view text)
{
    if (text.empty())
        return std::nullopt;
    const std::size_t next = text.find_first_not_of(kBlank, 1);
    if (text.front() != '{')
        return false;
    return next == std::string_view::npos ? std::nullopt : std::optional(text[next] == '"' || text[next] == '}');
}

/// The object that begins here, as far as it has come. It is given as it was written.
WrittenCall call_with(std::string name, std::string_view text)
{
    const auto size = json_bytes(text);
    return {std::move(name), std::string(text.substr(0, size.value_or(text.size()))), size.has_value()};
}

/// Takes the members of a JSON object one by one.
class JsonMembers
{
public:
    enum class Next { Member, End, NotYet, Broken };

    /// Of a text that begins with '{'.
    explicit JsonMembers(std::string_view text)
        : text_(text)
    {
    }

    /// Member: key() is there, and value() as far as it has come.
    Next next()
    {
        const std::size_t at = text_.find_first_not_of(kBlank, at_);
        if (at == std::string_view::npos)
            return Next::NotYet;
        if (text_[at] == '}') {
            at_ = at + 1;
            return Next::End;
        }
        const std::size_t quote = begun_ ? text_.find_first_not_of(kBlank, at + 1) : at;
        if (begun_ && text_[at] != ',')
            return Next::Broken;
        if (quote == std::string_view::npos)
            return Next::NotYet;
        if (text_[quote] != '"')
            return Next::Broken;
        const auto key = string_bytes(quote);
        const std::size_t colon = key ? text_.find_first_not_of(kBlank, quote + *key) : std::string_view::npos;
        const std::size_t value =
            colon != std::string_view::npos ? text_.find_first_not_of(kBlank, colon + 1) : std::string_view::npos;
        if (colon != std::string_view::npos && text_[colon] != ':')
            return Next::Broken;
        if (value == std::string_view::npos)
            return Next::NotYet;
        begun_ = true;
        key_ = text_.substr(quote + 1, *key - 2);
        const auto size = value_bytes(value);
        value_ = text_.substr(value, size.value_or(std::string_view::npos));
        is_whole_ = size.has_value();
        at_ = value + value_.size();
        return value_.empty() ? Next::Broken : Next::Member;
    }

    std::string_view key() const { return key_; }
    std::string_view value() const { return value_; }
    bool value_is_whole() const { return is_whole_; }
    std::size_t bytes_read() const { return at_; }

private:
    std::optional<std::size_t> string_bytes(std::size_t quote) const
    {
        for (std::size_t i = quote + 1; i < text_.size(); ++i)
            if (text_[i] == '\\')
                ++i;
            else if (text_[i] == '"')
                return i + 1 - quote;
        return std::nullopt;
    }

    std::optional<std::size_t> value_bytes(std::size_t at) const
    {
        if (text_[at] == '"')
            return string_bytes(at);
        if (text_[at] == '{' || text_[at] == '[')
            return json_bytes(text_.substr(at));
        const std::size_t end = text_.find_first_of(", \t\r\n}]:\"", at);
        return end == std::string_view::npos ? std::nullopt : std::optional(end - at);
    }

    const std::string_view text_;
    std::size_t at_ = 1;
    bool begun_ = false;
    std::string_view key_, value_;
    bool is_whole_ = false;
};

/// Arguments that are not told of before they are whole; nothing: they are of no kind that can be given. Some write the
/// object as a text.
std::optional<std::string> whole_arguments(std::string_view value)
{
    if (value.empty())
        return "{}";
    if (value.front() == '{')
        return std::string(value);
    const Json text = Json::parse(value, nullptr, false);
    if (!text.is_string() || !Json::parse(text.get<std::string>(), nullptr, false).is_object())
        return std::nullopt;
    return text.get<std::string>();
}

/// One call, whose object begins here. Where its name comes first, its arguments are told of while they are written.
ReadCalls read_json_call(std::string_view text)
{
    std::string name;
    std::string_view arguments;
    JsonMembers members(text);
    for (;;) {
        const auto next = members.next();
        if (next == JsonMembers::Next::NotYet)
            return not_yet();
        if (next == JsonMembers::Next::Broken)
            return no_calls();
        if (next == JsonMembers::Next::End)
            break;
        const bool is_arguments = members.key() == "arguments" || members.key() == "parameters";
        if (is_arguments && !name.empty() && members.value().front() == '{') {
            const auto begins = begins_object(members.value());
            if (!begins)
                return not_yet();
            if (!*begins)
                return no_calls();
            const auto size = json_bytes(text);  // whatever else is in it
            return {size ? Found::Calls : Found::NotYet, {call_with(name, members.value())}, size.value_or(0)};
        }
        if (!members.value_is_whole())
            return not_yet();
        if (is_arguments)
            arguments = members.value();
        else if (members.key() == "name" || members.key() == "tool_name")
            if (const Json given = Json::parse(members.value(), nullptr, false); given.is_string())
                name = given.get<std::string>();
    }
    auto given = whole_arguments(arguments);
    if (name.empty() || !given)
        return no_calls();
    return {Found::Calls, {{std::move(name), std::move(*given)}}, members.bytes_read()};
}

/// Once one of them has been told of, what is no call behind it is passed over.
ReadCalls read_json(const CallBody& body)
{
    const std::string_view text = body.text;
    if (text.front() == '{')
        return read_json_call(text);
    if (text.front() != '[')
        return no_calls();
    ReadCalls read{Found::NotYet};
    for (std::size_t at = text.find_first_not_of(kBlank, 1); at != std::string_view::npos;) {
        if (text[at] == ']' && !read.calls.empty()) {
            read.found = Found::Calls;
            read.bytes = at + 1;
            return read;
        }
        if (text[at] == ',' && !read.calls.empty())
            at = text.find_first_not_of(kBlank, at + 1);
        if (at == std::string_view::npos)
            break;
        ReadCalls one = text[at] == '{' ? read_json_call(text.substr(at)) : no_calls();
        read.calls.insert(read.calls.end(), one.calls.begin(), one.calls.end());
        if (one.found == Found::NotYet)
            return read;
        if (one.found == Found::None) {
            const auto size = json_bytes(text);
            if (read.calls.empty())
                return no_calls();
            read.found = size ? Found::Calls : Found::NotYet;
            read.bytes = size.value_or(0);
            return read;
        }
        at = text.find_first_not_of(kBlank, at + one.bytes);
    }
    return read;
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
    const auto begins = begins_object(body.text.substr(from));
    if (name.empty() || (begins && !*begins))
        return no_calls();
    if (!begins)
        return not_yet();
    ReadCalls read{Found::NotYet, {call_with(std::move(name), body.text.substr(from))}};
    if (read.calls.front().whole) {
        read.found = Found::Calls;
        read.bytes = from + read.calls.front().arguments.size();
    }
    return read;
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

// ---- calls between marks ----

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

/// What a body that ends here, or goes on, is with these calls, all of which are whole.
ReadCalls calls_so_far(const CallBody& body, std::vector<WrittenCall> calls, std::string_view rest)
{
    const std::size_t close = rest.find(body.close);
    if (close == std::string_view::npos && !body.ended)
        return {Found::NotYet, std::move(calls)};
    if (calls.empty())
        return no_calls();
    return {Found::Calls, std::move(calls), body.text.size() - rest.size() + std::min(close, rest.size())};
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
    std::vector<WrittenCall> calls;
    const auto stop = [&](bool broken) {
        return calls.empty() && (broken || body.ended) ? no_calls() : ReadCalls{Found::NotYet, calls};
    };
    std::string_view text = body.text;
    for (;;) {
        const std::size_t open = text.find(kMarks.open);
        if (open == std::string_view::npos || text.find(body.close) < open)
            return calls_so_far(body, std::move(calls), text);
        text.remove_prefix(open + kMarks.open.size());
        auto name = cut_off(text, kMarks.between);
        if (name && trimmed(*name) == "function")  // DeepSeek R1 says that there, and the name on the line behind it
            name = cut_off(text, "\n");
        if (!name)
            return stop(text.size() > kLongestHead);
        text.remove_prefix(std::min(text.find('{'), text.size()));
        const auto begins = begins_object(text);
        const std::string called = plain_name(*name);
        if (!begins || !*begins || called.empty())
            return stop(begins.has_value());
        calls.push_back(call_with(called, text));
        if (!calls.back().whole)
            return {Found::NotYet, std::move(calls)};
        text.remove_prefix(calls.back().arguments.size());
    }
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
constexpr Tags kGlm = {"", "", "<arg_key>", "</arg_key>", "<arg_value>", "</arg_value>", "</tool_call>"};

/// What the tool's schema says of the argument's type; null: nothing.
Json type_of(const CallBody& body, const std::string& name, const std::string& key)
{
    const Json::json_pointer at("/function/parameters/properties");
    if (const Json* known = tool(body.tools, name); known && known->contains(at))
        if (const Json& all = known->at(at); all.is_object() && all.contains(key) && all[key].is_object())
            return all[key].value("type", Json());
    return {};
}

bool is_of_type(const Json& value, const Json& type)
{
    return (type == "object" && value.is_object()) || (type == "array" && value.is_array()) ||
           (type == "string" && value.is_string()) || (type == "boolean" && value.is_boolean()) ||
           (type == "null" && value.is_null()) || (type == "number" && value.is_number()) ||
           (type == "integer" && value.is_number_integer());
}

/// Tags know no types: a text stays one where the schema allows nothing else that it could be.
std::string typed(const Json& type, std::string_view text)
{
    const Json parsed = Json::parse(text, nullptr, false);
    const bool text_may_be = type.is_array() && std::ranges::find(type, Json("string")) != type.end();
    const bool is_other = std::ranges::any_of(type, [&](const Json& one) { return is_of_type(parsed, one); });
    return text_of(parsed.is_discarded() || (text_may_be && !is_other) ? Json(std::string(text)) : parsed);
}

/// Inside of JSON's quotes.
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

/// A value on lines of its own is without them. `end`: the mark behind it, a part of which may be there.
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

/// What stands between a call's name and its end, as far as it has come, and takes it off the text. A text is told of
/// while it is written, other values when they are whole. Not begun: no value has.
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
        const std::string called(trimmed(*name));
        const Json type = type_of(body, call.name, called);
        const bool is_text = kind->find("string=\"true\"") != std::string_view::npos || type == "string";
        const std::size_t close = text.find(tags.value_end);
        const bool whole = close != std::string_view::npos;
        if (!whole && !is_text)
            return so_far;
        const std::string_view value = own_lines(text.substr(0, close), tags.value_end, whole);
        call.arguments += (call.arguments.empty() ? "{" : ",") + text_of(Json(called)) + ":";
        call.arguments += is_text ? '"' + escaped(value) + (whole ? "\"" : "") : typed(type, value);
        if (!whole)
            return Arguments::Begun;
        text.remove_prefix(close + tags.value_end.size());
    }
}

template <const Tags& kTags>
ReadCalls read_tags(const CallBody& body)
{
    if (!body.text.starts_with(kTags.call))
        return kTags.call.starts_with(body.text) ? not_yet() : no_calls();
    std::vector<WrittenCall> calls;
    for (std::string_view text = body.text;;) {
        const std::size_t next = text.find(kTags.call);
        if (next == std::string_view::npos || text.find(body.close) < next)
            return calls_so_far(body, std::move(calls), text);
        text.remove_prefix(next + kTags.call.size());
        const auto name = cut_off(text, kTags.name_end);
        WrittenCall call{name ? std::string(trimmed(*name)) : "", {}};
        const Arguments read = name ? read_tagged(body, kTags, text, call) : Arguments::NotBegun;
        if (read != Arguments::NotBegun)
            calls.push_back(std::move(call));
        if (read != Arguments::Whole)  // at the end nothing says that it is whole
            return body.ended && calls.empty() ? no_calls() : ReadCalls{Found::NotYet, std::move(calls)};
    }
}

/// GLM: the call has the marks itself, and its name ends where the first argument begins.
ReadCalls read_glm(const CallBody& body)
{
    const std::size_t name_end = body.text.find_first_of("< \t\r\n");
    WrittenCall call{std::string(body.text.substr(0, name_end)), {}};
    if (name_end == std::string_view::npos)
        return !body.ended && begins_a_tool(body.tools, call.name) ? not_yet() : no_calls();
    if (!tool(body.tools, call.name))
        return no_calls();
    std::string_view text = body.text.substr(name_end);
    const Arguments read = read_tagged(body, kGlm, text, call);
    if (read == Arguments::NotBegun)
        return body.ended ? no_calls() : not_yet();
    if (read == Arguments::Begun)
        return {Found::NotYet, {std::move(call)}};
    return {Found::Calls, {std::move(call)}, body.text.size() - text.size() - body.close.size()};
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
        return {Found::Calls, {{std::move(*name), text_of(*arguments)}}, values.bytes_read()};
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
        read.calls.push_back({std::move(*name), text_of(*arguments)});
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
    const bool known = read.calls.empty() || tool(body.tools, read.calls.front().name);
    return known ? read : no_calls();
}

}  // namespace server
