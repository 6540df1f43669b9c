#include "engine/grammar/schema_text.h"

#include <algorithm>
#include <limits>
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

// ---- formats ----

namespace {

constexpr std::string_view kLabel = "[a-zA-Z0-9] ([a-zA-Z0-9-]{0,38} [a-zA-Z0-9])?";

/// Writes up to six parts: the hosts of clouds have five and six.
std::string host_name()
{
    const std::string label(kLabel);
    return "(" + label + " \".\"){0,5} " + label;
}

/// Writes up to seven groups of digits with "::" among them, in place of one or more, or eight groups without.
StringFormat ipv6_address()
{
    const std::string group = "[0-9a-fA-F]{1,4}", more = "(\":\" " + group + ")";
    std::string any = group + " " + more + "{7} | " + group + " " + more + "{6} \"::\"";
    for (int before = 0; before < 7; ++before) {
        any += " | ";
        if (before > 0)
            any += group + " ";
        if (before > 1)
            any.append(more).append("{" + std::to_string(before - 1) + "} ");
        any.append("\"::\" (").append(group).append(" ").append(more);
        any.append("{0,").append(std::to_string(6 - before)).append("})?");
    }
    return {"(" + any + ")", 2, 39};
}

/// Writes an address. Its length has no bound where nobody asks for one, since signed addresses are long, nor where the
/// bound is so low that usual ones would be cut off. The query is counted with the path: either may be long.
StringFormat web_address(int most)
{
    constexpr int kNear = 2000, kOthers = 272;  // a scheme, a host, a port and the marks between the parts
    const bool ends = most >= kNear;
    const int letters = ends ? (most - kOthers) / 3 : 0;  // of which each may be an escape
    const int in_fragment = letters / 20;
    const std::string letter = R"([a-zA-Z0-9._~!$&'()*+,;=:@-] | "%" hex hex)";
    const auto further = [&](int count) {
        return "(" + letter + " | [/?])" + (ends ? "{0," + std::to_string(count) + "}" : std::string("*"));
    };
    const std::string path = further(letters - in_fragment), fragment = further(in_fragment);
    const std::string on_host = R"("//" )" + host_name() + R"( (":" [0-9]{1,5})? ([/?] )" + path + ")?";
    const std::string rest = "(" + on_host + " | (" + letter + ") " + path + R"() ("#" )" + fragment + ")?";
    return {R"([a-zA-Z] [a-zA-Z0-9+.-]{0,15} ":" )" + rest, 3, ends ? most : std::numeric_limits<int>::max()};
}

}  // namespace

StringFormat format_named(std::string_view name, int most)
{
    const std::string date = R"([0-9]{4} "-" ("0" [1-9] | "1" [0-2]) "-" ("0" [1-9] | [12] [0-9] | "3" [01]))";
    const std::string time =
        R"(([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9] ":" [0-5] [0-9] ("." [0-9]{1,9})? ("Z" | [+-] ([01] [0-9] | "2" [0-3]) ":" [0-5] [0-9]))";
    if (name == "date")
        return {date, 10, 10};
    if (name == "time")
        return {time, 9, 24};
    if (name == "date-time")
        return {date + " \"T\" " + time, 20, 35};
    if (name == "duration") {  // a unit of time is not left out between others
        const std::string n = "[0-9]{1,6} ";
        const std::string behind_hours = "(" + n + R"("M" ()" + n + R"("S")?)?)";
        const std::string of_day =
            R"("T" ()" + n + "\"H\" " + behind_hours + " | " + n + R"("M" ()" + n + R"("S")? | )" + n + "\"S\")";
        const std::string days = n + "\"D\"", months = n + "\"M\" (" + days + ")?";
        const std::string dates = "(" + n + "\"Y\" (" + months + ")? | " + months + " | " + days + ")";
        return {"\"P\" (" + n + "\"W\" | " + dates + " (" + of_day + ")? | " + of_day + ")", 3, 44};
    }
    if (name == "uuid")
        return {R"([0-9a-fA-F]{8} "-" [0-9a-fA-F]{4} "-" [0-9a-fA-F]{4} "-" [0-9a-fA-F]{4} "-" [0-9a-fA-F]{12})", 36,
                36};
    if (name == "hostname")
        return {host_name(), 1, 245};
    if (name == "ipv4") {
        const std::string byte = R"(("25" [0-5] | "2" [0-4] [0-9] | "1" [0-9] [0-9] | [1-9]? [0-9]))";
        return {byte + " (\".\" " + byte + "){3}", 7, 15};
    }
    if (name == "email") {
        const std::string word = "[a-zA-Z0-9_+-]{1,20}";
        return {word + " (\".\" " + word + "){0,2} \"@\" (" + std::string(kLabel) + " \".\"){1,3} [a-zA-Z]{2,20}", 6,
                206};
    }
    if (name == "ipv6")
        return ipv6_address();
    if (name == "uri")
        return web_address(most);
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

/// Names with anything but plain ASCII are not excluded: at worst an answer has such a name twice.
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
