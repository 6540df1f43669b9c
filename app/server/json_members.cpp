#include "app/server/json_members.h"

#include "app/server/json_brackets.h"

namespace server {

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

std::optional<bool> begins_json_object(std::string_view text)
{
    if (text.empty())
        return std::nullopt;
    const std::size_t next = text.find_first_not_of(kJsonBlank, 1);
    if (text.front() != '{')
        return false;
    return next == std::string_view::npos ? std::nullopt : std::optional(text[next] == '"' || text[next] == '}');
}

JsonMembers::Next JsonMembers::next()
{
    const std::size_t at = text_.find_first_not_of(kJsonBlank, at_);
    if (at == std::string_view::npos)
        return Next::NotYet;
    if (text_[at] == '}') {
        at_ = at + 1;
        return Next::End;
    }
    const std::size_t quote = begun_ ? text_.find_first_not_of(kJsonBlank, at + 1) : at;
    if (begun_ && text_[at] != ',')
        return Next::Broken;
    if (quote == std::string_view::npos)
        return Next::NotYet;
    if (text_[quote] != '"')
        return Next::Broken;
    const auto key = string_bytes(quote);
    const std::size_t colon = key ? text_.find_first_not_of(kJsonBlank, quote + *key) : std::string_view::npos;
    const std::size_t value =
        colon != std::string_view::npos ? text_.find_first_not_of(kJsonBlank, colon + 1) : std::string_view::npos;
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

std::optional<std::size_t> JsonMembers::string_bytes(std::size_t quote) const
{
    for (std::size_t i = quote + 1; i < text_.size(); ++i)
        if (text_[i] == '\\')
            ++i;
        else if (text_[i] == '"')
            return i + 1 - quote;
    return std::nullopt;
}

std::optional<std::size_t> JsonMembers::value_bytes(std::size_t at) const
{
    if (text_[at] == '"')
        return string_bytes(at);
    if (text_[at] == '{' || text_[at] == '[')
        return json_bytes(text_.substr(at));
    const std::size_t end = text_.find_first_of(", \t\r\n}]:\"", at);
    return end == std::string_view::npos ? std::nullopt : std::optional(end - at);
}

}  // namespace server
