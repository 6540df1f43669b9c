#include "app/server/loose_values.h"

#include <algorithm>
#include <array>
#include <utility>

namespace server {

namespace {

constexpr int kDeepestValue = 32;
constexpr std::string_view kGemmasQuote = "<|\"|>";

bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.' || c == '+';
}

/// Returns the text between quotes with JSON's escapes decoded; escapes of Python's only stay as they are.
std::string unquoted(std::string_view text)
{
    constexpr std::string_view kEscapes = "\"\\/bfnrtu";
    std::string literal = "\"";
    for (std::size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '\\' && i + 1 < text.size()) {
            const char next = text[++i];
            if (next == '\'')
                literal += next;
            else
                literal += (kEscapes.find(next) == std::string_view::npos ? "\\\\" : "\\") + std::string(1, next);
        } else if (c == '"') {
            literal += "\\\"";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            const std::string escaped = Json(std::string(1, c)).dump();
            literal.append(escaped, 1, escaped.size() - 2);
        } else {
            literal += c;
        }
    }
    const Json parsed = Json::parse(literal + '"', nullptr, false);
    return parsed.is_string() ? parsed.get<std::string>() : std::string(text);
}

}  // namespace

void LooseValues::skip_space()
{
    at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size());
}

bool LooseValues::take(std::string_view mark)
{
    skip_space();
    if (rest().starts_with(mark)) {
        at_ += mark.size();
        return true;
    }
    ran_out_ = ran_out_ || mark.starts_with(rest());
    return false;
}

std::optional<std::string> LooseValues::name()
{
    skip_space();
    const std::string_view left = rest();
    const auto size = std::size_t(std::ranges::find_if_not(left, is_name_byte) - left.begin());
    ran_out_ = ran_out_ || size == left.size();
    if (size == 0 || size == left.size())
        return std::nullopt;
    at_ += size;
    return std::string(left.substr(0, size));
}

std::optional<Json> LooseValues::value_at(int depth)
{
    if (depth > kDeepestValue)
        return std::nullopt;
    if (take(kGemmasQuote))
        return marked_text();
    for (const char quote : {'"', '\''})
        if (take(std::string_view(&quote, 1)))
            return quoted_text(quote);
    if (take("["))
        return list(depth);
    if (take("{"))
        return object(depth);
    return number_or_word();
}

std::optional<Json> LooseValues::marked_text()
{
    const std::size_t end = text_.find(kGemmasQuote, at_);
    if (end == std::string_view::npos) {
        ran_out_ = true;
        return std::nullopt;
    }
    const std::size_t begin = std::exchange(at_, end + kGemmasQuote.size());
    return std::string(text_.substr(begin, end - begin));
}

std::optional<Json> LooseValues::quoted_text(char quote)
{
    for (std::size_t end = at_; end < text_.size(); ++end) {
        if (text_[end] == '\\')
            ++end;
        else if (text_[end] == quote) {
            const std::size_t begin = std::exchange(at_, end + 1);
            return unquoted(text_.substr(begin, end - begin));
        }
    }
    ran_out_ = true;
    return std::nullopt;
}

std::optional<Json> LooseValues::list(int depth)
{
    Json all = Json::array();
    while (!take("]")) {
        if (!all.empty() && !take(","))
            return std::nullopt;
        auto one = value_at(depth + 1);
        if (!one)
            return std::nullopt;
        all.push_back(std::move(*one));
    }
    return all;
}

std::optional<Json> LooseValues::object(int depth)
{
    Json all = Json::object();
    while (!take("}")) {
        if (!all.empty() && !take(","))
            return std::nullopt;
        auto called = key();
        compares_left_ -= std::int64_t(all.size());
        if (!called || !take(":") || compares_left_ < 0)
            return std::nullopt;
        auto one = value_at(depth + 1);
        if (!one)
            return std::nullopt;
        all[*called] = std::move(*one);
    }
    return all;
}

std::optional<std::string> LooseValues::key()
{
    std::optional<Json> text;
    if (take(kGemmasQuote))
        text = marked_text();
    else if (take("\""))
        text = quoted_text('"');
    else if (take("'"))
        text = quoted_text('\'');
    else
        return name();
    return text ? std::optional(text->get<std::string>()) : std::nullopt;
}

/// Reads a number or a word. A word without a meaning counts as a text whose quotes were forgotten.
std::optional<Json> LooseValues::number_or_word()
{
    const auto word = name();
    if (!word)
        return std::nullopt;
    constexpr std::array<std::pair<std::string_view, std::string_view>, 3> kPythons = {
        std::pair("True", "true"), std::pair("False", "false"), std::pair("None", "null")};
    const auto pythons = std::ranges::find(kPythons, *word, &std::pair<std::string_view, std::string_view>::first);
    const Json parsed =
        Json::parse(pythons == kPythons.end() ? std::string_view(*word) : pythons->second, nullptr, false);
    return parsed.is_discarded() ? Json(*word) : parsed;
}

}  // namespace server
