#include "app/server/dialect.h"

#include "app/server/json_members.h"
#include "app/server/loose_values.h"

#include <chrono>
#include <random>
#include <utility>

namespace server {

namespace {

/// Returns a call as most models write one, in a line of its own: a stream may have sent text before it.
std::string line_of_call(const Call& call)
{
    return "\n{\"name\":" + text_of(Json(call.name)) + ",\"arguments\":" + call.arguments + "}";
}

}  // namespace

Ask unsaid_ask(const Served& served)
{
    Ask ask;
    ask.turn.most_drafted = -1;  // the server's own setting counts
    ask.turn.sampling = served.unsaid.sampling;
    ask.turn.max_tokens = served.unsaid.max_tokens;
    return ask;
}

std::optional<Json> arguments_as_object(std::string_view arguments)
{
    Json valid = parse_inner(arguments);
    if (valid.is_object())
        return valid;
    LooseValues values(arguments);
    auto meant = values.value();
    const bool is_all = arguments.find_first_not_of(kJsonBlank, values.bytes_read()) == std::string_view::npos;
    if (!meant || !meant->is_object() || !is_all)
        return std::nullopt;
    return meant;
}

std::vector<Call> without_cut_off(std::vector<Call> calls, const Ended& ended)
{
    const bool cut = ended.reason == engine::StopReason::MaxTokens || ended.reason == engine::StopReason::ContextFull ||
                     ended.reason == engine::StopReason::StopString;
    if (cut && !calls.empty() && !arguments_as_object(calls.back().arguments))
        calls.pop_back();
    return calls;
}

Answer with_readable_calls(Answer answer)
{
    std::vector<Call> readable;
    for (Call& call : without_cut_off(std::move(answer.calls), answer.ended)) {
        const auto arguments = arguments_as_object(call.arguments);
        if (!arguments) {
            answer.text += line_of_call(call);
            continue;
        }
        call.arguments = text_of(*arguments);
        readable.push_back(std::move(call));
    }
    answer.calls = std::move(readable);
    answer.ended.calls = int(answer.calls.size());
    return answer;
}

std::string new_id(std::string_view beginning)
{
    constexpr std::string_view kDigits = "0123456789abcdefghijklmnopqrstuv";
    std::random_device device;
    std::string id(beginning);
    for (int word = 0; word < 4; ++word)
        for (unsigned bits = device(), digit = 0; digit < 6; ++digit, bits >>= 5)
            id += kDigits[bits & 31];
    return id;
}

std::int64_t unix_time()
{
    return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

std::string event_of(const Json& data, std::string_view name)
{
    std::string text;
    if (!name.empty())
        text.append("event: ").append(name).append("\n");
    return text.append("data: ").append(text_of(data)).append("\n\n");
}

}  // namespace server
