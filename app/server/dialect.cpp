#include "app/server/dialect.h"

#include <chrono>
#include <random>

namespace server {

Ask unsaid_ask(const Served& served)
{
    Ask ask;
    ask.turn.most_drafted = -1;  // the server's own setting counts
    ask.turn.sampling = served.unsaid.sampling;
    ask.turn.max_tokens = served.unsaid.max_tokens;
    return ask;
}

std::vector<Call> without_cut_off(std::vector<Call> calls, const Ended& ended)
{
    const bool cut = ended.reason == engine::StopReason::MaxTokens || ended.reason == engine::StopReason::ContextFull ||
                     ended.reason == engine::StopReason::StopString;
    if (cut && !calls.empty() && !Json::parse(calls.back().arguments, nullptr, false).is_object())
        calls.pop_back();
    return calls;
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
