#include "app/server/json_calls.h"

#include "app/server/json_members.h"

#include <optional>
#include <utility>

namespace server {

namespace {

/// Returns a call's arguments as an object's text, from a value that has come whole: an object, or a text with an
/// object in it, as some models write. Empty: the value is neither.
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

/// Reads one call, whose object begins here. Where its name comes first, its arguments are returned while they are
/// being written.
ReadCalls read_json_call(std::string_view text)
{
    std::string name;
    std::string_view arguments;
    JsonMembers members(text);
    for (;;) {
        const auto next = members.next();
        if (next == JsonMembers::Next::NotYet)
            return calls_not_yet();
        if (next == JsonMembers::Next::Broken)
            return no_calls();
        if (next == JsonMembers::Next::End)
            break;
        const bool is_arguments = members.key() == "arguments" || members.key() == "parameters";
        if (is_arguments && !name.empty() && members.value().front() == '{') {
            const auto begins = begins_json_object(members.value());
            if (!begins)
                return calls_not_yet();
            if (!*begins)
                return no_calls();
            const auto size = json_bytes(text);  // passes over further members
            return {size ? ReadCalls::Found::Calls : ReadCalls::Found::NotYet,
                    {call_with(name, members.value())},
                    size.value_or(0)};
        }
        if (!members.value_is_whole())
            return calls_not_yet();
        if (is_arguments)
            arguments = members.value();
        else if (members.key() == "name" || members.key() == "tool_name")
            if (const Json given = Json::parse(members.value(), nullptr, false); given.is_string())
                name = given.get<std::string>();
    }
    auto given = whole_arguments(arguments);
    if (name.empty() || !given)
        return no_calls();
    return {ReadCalls::Found::Calls, {{std::move(name), std::move(*given)}}, members.bytes_read()};
}

}  // namespace

ReadCalls read_json_calls(const CallBody& body)
{
    const std::string_view text = body.text;
    if (text.front() == '{')
        return read_json_call(text);
    if (text.front() != '[')
        return no_calls();
    ReadCalls read{ReadCalls::Found::NotYet};
    for (std::size_t at = text.find_first_not_of(kJsonBlank, 1); at != std::string_view::npos;) {
        if (text[at] == ']' && !read.calls.empty()) {
            read.found = ReadCalls::Found::Calls;
            read.bytes = at + 1;
            return read;
        }
        if (text[at] == ',' && !read.calls.empty())
            at = text.find_first_not_of(kJsonBlank, at + 1);
        if (at == std::string_view::npos)
            break;
        ReadCalls one = text[at] == '{' ? read_json_call(text.substr(at)) : no_calls();
        read.calls.insert(read.calls.end(), one.calls.begin(), one.calls.end());
        if (one.found == ReadCalls::Found::NotYet)
            return read;
        if (one.found == ReadCalls::Found::None) {
            const auto size = json_bytes(text);
            if (read.calls.empty())
                return no_calls();
            read.found = size ? ReadCalls::Found::Calls : ReadCalls::Found::NotYet;
            read.bytes = size.value_or(0);
            return read;
        }
        at = text.find_first_not_of(kJsonBlank, at + one.bytes);
    }
    return read;
}

}  // namespace server
