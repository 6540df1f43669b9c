#include "app/server/named_calls.h"

#include "app/server/json_calls.h"
#include "app/server/json_members.h"

#include <algorithm>
#include <utility>

namespace server {

namespace {

/// Returns the name alone. Some models write "functions." before it, and Kimi a number of the call behind it.
std::string plain_name(std::string_view name)
{
    constexpr std::string_view kFunctions = "functions.";
    name = without_blanks_around(name);
    if (name.starts_with(kFunctions))
        name.remove_prefix(kFunctions.size());
    return std::string(name.substr(0, name.find(':')));
}

/// Reads the call of this name with the object that begins at `from`.
ReadCalls read_arguments(const CallBody& body, std::string name, std::size_t from)
{
    const auto begins = begins_json_object(body.text.substr(from));
    if (name.empty() || (begins && !*begins))
        return no_calls();
    if (!begins)
        return calls_not_yet();
    ReadCalls read{ReadCalls::Found::NotYet, {call_with(std::move(name), body.text.substr(from))}};
    if (read.calls.front().whole) {
        read.found = ReadCalls::Found::Calls;
        read.bytes = from + read.calls.front().arguments.size();
    }
    return read;
}

/// Holds the marks around a call: before the name, between name and object, and behind the object.
struct Section {
    std::string_view open, between, close;
};
constexpr Section kDeepSeek = {"<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"};
constexpr Section kKimi = {"<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"};

ReadCalls read_sections(const CallBody& body, const Section& marks)
{
    std::vector<WrittenCall> calls;
    const auto stop = [&](bool broken) {
        return calls.empty() && (broken || body.ended) ? no_calls() : ReadCalls{ReadCalls::Found::NotYet, calls};
    };
    std::string_view text = body.text;
    for (;;) {
        const std::size_t open = text.find(marks.open);
        if (open == std::string_view::npos || text.find(body.close) < open)
            return calls_so_far(body, std::move(calls), text);
        text.remove_prefix(open + marks.open.size());
        auto name = cut_off(text, marks.between);
        // DeepSeek R1 writes "function" in place of the name, and the name in front of the next line break.
        if (name && without_blanks_around(*name) == "function")
            name = cut_off(text, "\n");
        if (!name)
            return stop(text.size() > kLongestCallHead);
        text.remove_prefix(std::min(text.find('{'), text.size()));
        const auto begins = begins_json_object(text);
        const std::string called = plain_name(*name);
        if (!begins || !*begins || called.empty())
            return stop(begins.has_value());
        calls.push_back(call_with(called, text));
        if (!calls.back().whole)
            return {ReadCalls::Found::NotYet, std::move(calls)};
        text.remove_prefix(calls.back().arguments.size());
    }
}

}  // namespace

ReadCalls read_mistral_calls(const CallBody& body)
{
    constexpr std::string_view kArguments = "[ARGS]", kId = "[CALL_ID]";
    if (body.text.front() == '[' || body.text.front() == '{')
        return read_json_calls(body);
    const std::size_t brace = body.text.find('{');
    const std::size_t name_end = body.text.find_first_of("[{ \t\r\n");
    if (brace == std::string_view::npos)
        return body.text.size() > kLongestCallHead ? no_calls() : calls_not_yet();
    const std::string_view between = without_blanks_around(body.text.substr(name_end, brace - name_end));
    if (!between.empty() && !between.ends_with(kArguments) && !between.starts_with(kId))
        return no_calls();
    return read_arguments(body, std::string(body.text.substr(0, name_end)), brace);
}

ReadCalls read_addressed_call(const CallBody& body)
{
    constexpr std::string_view kMessage = "<|message|>";
    const std::size_t message = body.text.find(kMessage);
    if (message == std::string_view::npos)
        return body.text.size() > kLongestCallHead ? no_calls() : calls_not_yet();
    const std::string_view head = body.text.substr(0, message);
    const std::size_t brace = body.text.find_first_not_of(kJsonBlank, message + kMessage.size());
    if (brace == std::string_view::npos)
        return calls_not_yet();
    if (body.text[brace] != '{')
        return no_calls();
    return read_arguments(body, plain_name(head.substr(0, head.find_first_of(" <"))), brace);
}

ReadCalls read_deepseek_calls(const CallBody& body)
{
    return read_sections(body, kDeepSeek);
}

ReadCalls read_kimi_calls(const CallBody& body)
{
    return read_sections(body, kKimi);
}

}  // namespace server
