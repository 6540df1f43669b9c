#include "engine/grammar/schema_text.h"

#include <algorithm>
#include <map>

namespace engine {

// White space is bounded, and so are numbers: a model that has nothing more to say must not go on with them for ever.
// Of surrogates there are pairs only: half of one is no character, and many readers refuse the text.
const std::string_view kJsonRules = R"g(ws ::= " "? | "\n" " "{0,40}
char ::= [^"\\\x00-\x1f\x7f] | "\\" (["\\/bfnrt] | "u" code)
code ::= [0-9a-cA-CefEF] hex{3} | [dD] [0-7] hex{2} | [dD] [89abAB] hex{2} "\\u" [dD] [c-fC-F] hex{2}
hex ::= [0-9a-fA-F]
string ::= "\"" char* "\""
integer ::= "-"? ("0" | [1-9] [0-9]{0,15})
number ::= integer ("." [0-9]{1,16})? ([eE] [-+]? [0-9]{1,2})?
boolean ::= "true" | "false"
null ::= "null"
value ::= object | array | string | number | boolean | null
object ::= "{" ws (string ":" ws value ("," ws string ":" ws value)* ws)? "}"
array ::= "[" ws (value ("," ws value)* ws)? "]"
)g";

std::string gbnf_literal(std::string_view text)
{
    constexpr std::string_view kHex = "0123456789abcdef";
    std::string literal = "\"";
    for (const char c : text) {
        const auto byte = std::uint8_t(c);
        if (byte < ' ' || byte == 0x7F)
            literal += std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
        else
            literal += (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    }
    return literal + "\"";
}

// ---- integers ----

namespace {

std::string digits_of(int count, const char* of = "[0-9]")
{
    return count == 0 ? "" : std::string(" ") + of + "{" + std::to_string(count) + "}";
}

/// Numbers of the same length between two, both of which are digits.
std::string same_length(std::string_view least, std::string_view most)
{
    if (least.empty())
        return "";
    const int rest = int(least.size()) - 1;
    const auto between = [](char a, char b) { return std::string("[") + a + "-" + b + "]"; };
    if (least.front() == most.front())
        return between(least.front(), least.front()) + (rest ? " " + same_length(least.substr(1), most.substr(1)) : "");
    const std::string nines(std::size_t(rest), '9'), zeros(std::size_t(rest), '0');
    std::vector<std::string> choices;
    char low = least.front(), high = most.front();
    if (least.substr(1) != zeros)
        choices.push_back(between(low, low) + " " + same_length(least.substr(1), nines)), ++low;
    std::string last;
    if (most.substr(1) != nines)
        last = between(high, high) + " " + same_length(zeros, most.substr(1)), --high;
    if (low <= high)
        choices.push_back(between(low, high) + digits_of(rest));
    if (!last.empty())
        choices.push_back(last);
    std::string all;
    for (const std::string& choice : choices)
        all += (all.empty() ? "" : " | ") + choice;
    return "(" + all + ")";
}

/// 0 <= least <= most.
std::string whole_numbers(std::uint64_t least, std::uint64_t most)
{
    std::string all;
    const std::string end = std::to_string(most);
    for (std::string from = std::to_string(least);;) {
        const bool last = from.size() == end.size();
        all += (all.empty() ? "" : " | ") + same_length(from, last ? end : std::string(from.size(), '9'));
        if (last)
            return all;
        from = "1" + std::string(from.size(), '0');
    }
}

}  // namespace

std::string gbnf_of_integers(std::optional<std::int64_t> least, std::optional<std::int64_t> most)
{
    if (!least && !most)
        return "integer";
    constexpr std::int64_t kFar = 9'999'999'999'999'999;  // as far as the rule `integer` goes
    const std::int64_t from = least.value_or(std::min(-kFar, most.value_or(0)));
    const std::int64_t to = most.value_or(std::max(kFar, least.value_or(0)));
    std::string all;
    const auto magnitude = [](std::int64_t negative) { return std::uint64_t(0) - std::uint64_t(negative); };
    if (from < 0)
        all = "\"-\" (" + whole_numbers(to < 0 ? magnitude(to) : 1, magnitude(from)) + ")";
    if (to >= 0)
        all += (all.empty() ? "" : " | ") +
               whole_numbers(std::uint64_t(std::max<std::int64_t>(from, 0)), std::uint64_t(to));
    return "(" + all + ")";
}

std::string gbnf_of_format(std::string_view format)
{
    const std::string date = R"([0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01]))";
    const std::string time =
        R"(([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,9})? ("Z" | [+-] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]))";
    const auto quoted = [](const std::string& inside) { return "\"\\\"\" " + inside + " \"\\\"\""; };
    if (format == "date")
        return quoted(date);
    if (format == "time")
        return quoted(time);
    if (format == "date-time")
        return quoted(date + " \"T\" " + time);
    if (format == "uuid")
        return quoted(R"([0-9a-fA-F]{8} "-" [0-9a-fA-F]{4} "-" [0-9a-fA-F]{4} "-" [0-9a-fA-F]{4} "-" [0-9a-fA-F]{12})");
    return {};
}

// ---- names that are not others ----

namespace {

void add_other(const std::vector<std::string>& texts, const std::string& rule, std::string& rules, std::size_t most)
{
    if (rules.size() > most)
        return;
    std::map<char, std::vector<std::string>> by_first;
    bool ends_here = false;  // with one of the texts
    for (const std::string& text : texts) {
        if (text.empty())
            ends_here = true;
        else
            by_first[text.front()].push_back(text.substr(1));
    }
    std::string others = R"([^"\\\x00-\x1f\x7f)", choices;
    for (const auto& [first, rest] : by_first) {
        constexpr std::string_view kHex = "0123456789abcdef";
        const std::string escaped =
            std::string("\\x") + kHex[std::uint8_t(first) >> 4] + kHex[std::uint8_t(first) & 15];
        const std::string next = rule + "-" + std::to_string(std::uint8_t(first));
        others += escaped;
        choices.append(" | \"").append(escaped).append("\" ").append(next);
        add_other(rest, next, rules, most);
    }
    rules.append(rule).append(" ::= ").append(ends_here ? "" : "\"\" | ");
    rules.append(others).append("] char*").append(choices).append("\n");
}

}  // namespace

/// A name with anything but plain ASCII is not told apart: nothing else than a name given twice comes of that.
void add_other_strings(std::vector<std::string> texts, const std::string& prefix, std::string& rules, std::size_t most)
{
    constexpr std::size_t kLongest = 200;  // a rule for each letter
    std::erase_if(texts, [](const std::string& text) {
        return text.size() > kLongest ||
               std::ranges::any_of(text, [](char c) { return c < ' ' || c > '~' || c == '"' || c == '\\'; });
    });
    add_other(texts, prefix, rules, most);
}

}  // namespace engine
