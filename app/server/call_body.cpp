#include "app/server/call_body.h"

#include "app/server/json_members.h"

#include <algorithm>
#include <utility>

namespace server {

ReadCalls no_calls()
{
    return {};
}

ReadCalls calls_not_yet()
{
    return {ReadCalls::Found::NotYet};
}

ReadCalls calls_so_far(const CallBody& body, std::vector<WrittenCall> calls, std::string_view rest)
{
    const std::size_t close = rest.find(body.close);
    if (close == std::string_view::npos && !body.ended)
        return {ReadCalls::Found::NotYet, std::move(calls)};
    if (calls.empty())
        return no_calls();
    return {ReadCalls::Found::Calls, std::move(calls), body.text.size() - rest.size() + std::min(close, rest.size())};
}

WrittenCall call_with(std::string name, std::string_view text)
{
    const auto size = json_bytes(text);
    return {std::move(name), std::string(text.substr(0, size.value_or(text.size()))), size.has_value()};
}

std::string_view without_blanks_around(std::string_view text)
{
    const auto first = text.find_first_not_of(kJsonBlank);
    return first == std::string_view::npos ? "" : text.substr(first, text.find_last_not_of(kJsonBlank) + 1 - first);
}

std::optional<std::string_view> cut_off(std::string_view& text, std::string_view mark)
{
    const std::size_t end = text.find(mark);
    if (end == std::string_view::npos)
        return std::nullopt;
    const std::string_view piece = text.substr(0, end);
    text.remove_prefix(end + mark.size());
    return piece;
}

}  // namespace server
