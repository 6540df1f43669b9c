#include "app/server/tool_call_reader.h"

#include "app/server/json_brackets.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace server {

namespace {

constexpr std::string_view kCallSpace = " \t\r\n";

std::string_view trimmed(std::string_view text)
{
    const auto first = text.find_first_not_of(kCallSpace);
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kCallSpace) + 1 - first);
}

std::size_t space_before(std::string_view text)
{
    return std::min(text.find_first_not_of(kCallSpace), text.size());
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

/// What a call of a tool gives it; nothing: it is none.
std::optional<Json> arguments_in(const Json& call)
{
    if (!call.is_object() || !call.contains("name") || !call["name"].is_string())
        return std::nullopt;
    for (const char* key : {"arguments", "parameters"})
        if (const auto given = call.find(key); given != call.end()) {
            // Some write the object as a text.
            Json arguments = given->is_string() ? Json::parse(given->get<std::string>(), nullptr, false) : *given;
            return arguments.is_object() ? std::optional(std::move(arguments)) : std::nullopt;
        }
    return Json::object();
}

}  // namespace

// What stands behind the mark decides how it is read: an object {"name", "arguments"}, an array of them, a name and its
// arguments, or tags.
struct ToolCallReader::Shape {
    std::string_view open;
    std::string_view close;  // empty: the call ends where its JSON ends
};

const ToolCallReader::Shape ToolCallReader::kShapes[] = {
    {"<tool_call>", "</tool_call>"},  // Hermes, Qwen 2.5 and 3: an object; Qwen3-Coder and later: tags
    {"[TOOL_CALLS]", ""},             // Mistral: an array, or NAME[ARGS]{...}
    {"<|python_tag|>", ""},           // Llama 3.1 and later
    {"<|tool_call|>", ""},            // Granite, Phi-4: an array
};

ToolCallReader::ToolCallReader(Json tools, Sink sink)
    : tools_(std::move(tools))
    , sink_(std::move(sink))
{
}

void ToolCallReader::feed(std::string_view piece)
{
    held_ += piece;
    while (!held_.empty() && step()) {
    }
}

/// False: it takes more text to go on.
bool ToolCallReader::step()
{
    switch (state_) {
    case State::Beginning:
        return begin();
    case State::Text:
        return read_text();
    case State::Call:
        return read_call();
    }
    return false;
}

/// Llama 3 answers with nothing but an object where it calls a tool.
bool ToolCallReader::begin()
{
    const std::size_t first = held_.find_first_not_of(kCallSpace);
    if (first == std::string::npos)
        return false;
    state_ = held_[first] == '{' ? State::Call : State::Text;
    shape_ = nullptr;
    return true;
}

bool ToolCallReader::read_text()
{
    const std::string_view held = held_;
    std::size_t mark = held.size();
    for (std::size_t at = 0; at < held.size() && mark == held.size(); ++at) {
        const std::string_view rest = held.substr(at);
        for (const Shape& shape : kShapes) {
            if (rest.starts_with(shape.open)) {
                shape_ = &shape;
                state_ = State::Call;
                mark = at;
            } else if (shape.open.starts_with(rest)) {
                mark = at;
            }
        }
    }
    // Space before a call is nobody's, and one may follow.
    const std::size_t last = held.substr(0, mark).find_last_not_of(kCallSpace);
    const std::size_t text = last == std::string_view::npos ? 0 : last + 1;
    const bool called = state_ == State::Call;
    give_text(text);
    return called;
}

bool ToolCallReader::read_call()
{
    const std::string_view open = shape_ ? shape_->open : std::string_view();
    const std::string_view close = shape_ ? shape_->close : std::string_view();
    const std::string_view held = std::string_view(held_);
    const std::size_t mark_end = space_before(held) + open.size();
    const std::size_t first = mark_end + space_before(held.substr(mark_end));
    const std::string_view body = held.substr(first);
    if (body.empty())
        return false;
    std::size_t used = 0;
    const Found found = body.front() == '{'   ? read_object(body, used)
                        : body.front() == '[' ? read_objects(body, used)
                        : close.empty()       ? read_named(body, used)
                                              : read_tagged(body, close, used);
    if (found == Found::NotYet)
        return false;
    if (found == Found::NoCall) {
        give_up();
        return true;
    }
    held_.erase(0, first + used);
    state_ = State::Text;
    if (!close.empty()) {
        // Some models leave it out at the very end; then nothing follows.
        const std::size_t at = held_.find(close);
        const std::string_view between = std::string_view(held_).substr(0, at);
        if (at != std::string::npos && trimmed(between).empty())
            held_.erase(0, at + close.size());
    }
    return true;
}

/// What looked like a call is text, its mark included; another one may follow.
void ToolCallReader::give_up()
{
    state_ = State::Text;
    give_text(space_before(held_) + (shape_ ? shape_->open.size() : 1));
}

ToolCallReader::Found ToolCallReader::read_object(std::string_view body, std::size_t& used)
{
    const auto size = json_bytes(body);
    if (!size)
        return Found::NotYet;
    // The end of a call that has one is part of it, so that what lies between is not taken for text.
    if (shape_ && !shape_->close.empty() && !ended_) {
        const std::string_view rest = body.substr(*size);
        const std::string_view next = rest.substr(space_before(rest));
        if (next.size() < shape_->close.size() && shape_->close.starts_with(next))
            return Found::NotYet;
    }
    const Json call = Json::parse(body.substr(0, *size), nullptr, false);
    if (!give_call(call))
        return Found::NoCall;
    used = *size;
    return Found::Call;
}

ToolCallReader::Found ToolCallReader::read_objects(std::string_view body, std::size_t& used)
{
    const auto size = json_bytes(body);
    if (!size)
        return Found::NotYet;
    const Json calls = Json::parse(body.substr(0, *size), nullptr, false);
    const auto is_call = [](const Json& call) { return arguments_in(call).has_value(); };
    if (!calls.is_array() || calls.empty() || !std::ranges::all_of(calls, is_call))
        return Found::NoCall;
    for (const Json& call : calls)
        give_call(call);
    used = *size;
    return Found::Call;
}

/// NAME[ARGS]{...}, and NAME{...}.
ToolCallReader::Found ToolCallReader::read_named(std::string_view body, std::size_t& used)
{
    constexpr std::string_view kArguments = "[ARGS]", kId = "[CALL_ID]";
    const std::size_t brace = body.find('{');
    const std::size_t name_end = body.find_first_of("[{ \t\r\n");
    if (name_end == 0)
        return Found::NoCall;
    if (brace == std::string_view::npos)
        return body.size() > 300 ? Found::NoCall : Found::NotYet;  // no name is so long
    const std::string_view between = trimmed(body.substr(name_end, brace - name_end));
    if (!between.empty() && !between.ends_with(kArguments) && !between.starts_with(kId))
        return Found::NoCall;
    const auto size = json_bytes(body.substr(brace));
    if (!size)
        return Found::NotYet;
    const Json arguments = Json::parse(body.substr(brace, *size), nullptr, false);
    if (!arguments.is_object())
        return Found::NoCall;
    give_call({{"name", std::string(body.substr(0, name_end))}, {"arguments", arguments}});
    used = brace + *size;
    return Found::Call;
}

/// <function=NAME><parameter=KEY>VALUE</parameter>...</function>
ToolCallReader::Found ToolCallReader::read_tagged(std::string_view body, std::string_view close, std::size_t& used)
{
    constexpr std::string_view kFunction = "<function=", kParameter = "<parameter=", kParameterEnd = "</parameter>";
    if (!body.starts_with(kFunction))
        return kFunction.starts_with(body) ? Found::NotYet : Found::NoCall;
    constexpr std::string_view kFunctionEnd = "</function>";
    std::size_t end = body.find(close);
    if (const std::size_t last = body.rfind(kFunctionEnd); end == std::string_view::npos && ended_ && last != end)
        end = last + kFunctionEnd.size();  // the very last mark may be missing
    if (end == std::string_view::npos)
        return Found::NotYet;
    used = end;
    body = body.substr(0, end);
    const std::size_t name_end = body.find('>');
    if (name_end == std::string_view::npos)
        return Found::NoCall;
    const std::string name(trimmed(body.substr(kFunction.size(), name_end - kFunction.size())));
    const Json* known = tool(name);
    Json arguments = Json::object();
    for (std::size_t at = body.find(kParameter, name_end); at != std::string_view::npos;
         at = body.find(kParameter, at)) {
        const std::size_t key = at + kParameter.size(), key_end = body.find('>', key);
        const std::size_t value_end = body.find(kParameterEnd, key);
        if (key_end == std::string_view::npos || value_end == std::string_view::npos || key_end > value_end)
            return Found::NoCall;
        std::string_view value = body.substr(key_end + 1, value_end - key_end - 1);
        if (value.starts_with('\n'))
            value.remove_prefix(1);
        if (value.ends_with('\n'))
            value.remove_suffix(1);
        const std::string parameter(trimmed(body.substr(key, key_end - key)));
        // Tags know no types: a text stays one where the tool's schema says so, or where it is nothing else.
        const Json::json_pointer type("/function/parameters/properties");
        const Json properties = known && known->contains(type) ? known->at(type) : Json::object();
        const bool is_text = properties.contains(parameter) && properties[parameter].is_object() &&
                             properties[parameter].value("type", Json()) == "string";
        Json parsed = is_text ? Json() : Json::parse(value, nullptr, false);
        arguments[parameter] = is_text || parsed.is_discarded() ? Json(std::string(value)) : std::move(parsed);
        at = value_end;
    }
    give_call({{"name", name}, {"arguments", std::move(arguments)}});
    return Found::Call;
}

/// False: it is no call of a tool.
bool ToolCallReader::give_call(const Json& call)
{
    const auto arguments = arguments_in(call);
    const bool is_call =
        arguments && (shape_ || tool(call["name"].get<std::string>()));  // else it happens to have a name
    if (is_call) {
        sink_.call(call["name"].get<std::string>(), text_of(*arguments));
        called_ = true;
    }
    return is_call;
}

const Json* ToolCallReader::tool(const std::string& name) const
{
    const Json::json_pointer at("/function/name");
    for (const Json& tool : tools_)
        if (tool.is_object() && tool.contains(at) && tool.at(at) == name)
            return &tool;
    return nullptr;
}

void ToolCallReader::give_text(std::size_t bytes)
{
    if (bytes == 0)
        return;
    sink_.text(std::string_view(held_).substr(0, bytes));
    held_.erase(0, bytes);
}

void ToolCallReader::finish()
{
    ended_ = true;
    while (!held_.empty() && step()) {
    }
    // A call whose last words are missing is text: nothing is lost.
    if (called_ && trimmed(held_).empty())
        held_.clear();
    give_text(held_.size());
}

}  // namespace server
