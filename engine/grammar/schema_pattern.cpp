// Turns the regular expressions of JSON Schema, as far as they are simple, into GBNF for the JSON string.
#include "engine/grammar/schema_text.h"

#include <algorithm>

namespace engine {

namespace {

class PatternReader
{
public:
    explicit PatternReader(std::string_view pattern)
        : text_(pattern)
    {
    }
    Result<std::string> read();

private:
    static constexpr int kMostDepth = 16;

    bool take(std::string_view word);
    bool at_end() const { return at_ == text_.size(); }
    char here() const { return at_end() ? '\0' : text_[at_]; }
    tl::unexpected<Error> not_supported(const std::string& what) const;

    Result<std::string> read_choices(int depth);
    Result<std::string> read_sequence(int depth);
    Result<std::string> read_item(int depth);
    Result<std::string> read_class();
    Result<std::string> read_escape(bool in_class);
    Result<std::string> read_repeats();
    std::string read_character();

    std::string_view text_;
    std::size_t at_ = 0;
};

bool PatternReader::take(std::string_view word)
{
    if (!text_.substr(at_).starts_with(word))
        return false;
    at_ += word.size();
    return true;
}

tl::unexpected<Error> PatternReader::not_supported(const std::string& what) const
{
    return fail(Error::Code::BadRequest,
                "the schema's pattern '" + std::string(text_) + "' has " + what + ", which is not supported");
}

/// A character as JSON writes it in a string.
std::string json_character(const std::string& utf8)
{
    if (utf8 == "\"" || utf8 == "\\")
        return gbnf_literal("\\" + utf8);
    return gbnf_literal(utf8);
}

Result<std::string> PatternReader::read()
{
    if (std::ranges::any_of(text_, [](char c) { return std::uint8_t(c) < ' '; }))
        return not_supported("a control character");
    const bool at_first = take("^");
    std::string_view body = text_;
    const bool at_last = body.ends_with('$') && !body.ends_with("\\$");
    if (at_last)
        body.remove_suffix(1);
    PatternReader inner(body);
    inner.at_ = at_;
    auto all = inner.read_choices(0);
    if (!all)
        return not_supported(all.error().what);
    if (!inner.at_end())
        return not_supported("a ')' too many");
    return "\"\\\"\" " + std::string(at_first ? "" : "char* ") + "(" + *all + ")" + (at_last ? "" : " char*") +
           " \"\\\"\"";
}

/// Below, an error's sentence is what the pattern has; read() puts it into a whole one.
tl::unexpected<Error> has(std::string what)
{
    return fail(Error::Code::BadRequest, std::move(what));
}

Result<std::string> PatternReader::read_choices(int depth)
{
    auto all = read_sequence(depth);
    while (all && take("|")) {
        auto another = read_sequence(depth);
        if (!another)
            return another;
        *all += " | " + *another;
    }
    return all;
}

Result<std::string> PatternReader::read_sequence(int depth)
{
    std::string all = "\"\"";
    while (!at_end() && here() != '|' && here() != ')') {
        auto item = read_item(depth);
        if (!item)
            return item;
        auto repeats = read_repeats();
        if (!repeats)
            return repeats;
        all += " " + *item + *repeats;
    }
    return all;
}

Result<std::string> PatternReader::read_item(int depth)
{
    if (take("(?:") || take("(")) {
        if (here() == '?')
            return has("a group of the kind '(?'");
        if (depth == kMostDepth)
            return has("groups more than " + std::to_string(kMostDepth) + " deep within each other");
        auto all = read_choices(depth + 1);
        if (!all)
            return all;
        if (!take(")"))
            return has("a group without ')'");
        return "(" + *all + ")";
    }
    if (take("."))
        return std::string("char");
    if (take("["))
        return read_class();
    if (take("\\"))
        return read_escape(false);
    if (std::string_view("^$*+?{").find(here()) != std::string_view::npos)
        return has(std::string("a '") + here() + "' in this place");
    return json_character(read_character());
}

std::string PatternReader::read_character()
{
    const auto lead = std::uint8_t(here());
    const std::size_t size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    const std::string_view utf8 = text_.substr(at_, size);
    at_ += utf8.size();
    return std::string(utf8);
}

/// Within a class the members alone, else a whole item.
Result<std::string> PatternReader::read_escape(bool in_class)
{
    const auto item = [&](const std::string& members) { return in_class ? members : "[" + members + "]"; };
    if (take("d"))
        return item("0-9");
    if (take("w"))
        return item("A-Za-z0-9_");
    if (take("s"))
        return item(" ");  // others do not stand in a JSON string as they are
    if (std::string_view(".*+?^$(){}[]|/\\-\"'@#&%:;,=<>!~` ").find(here()) == std::string_view::npos || at_end())
        return has(std::string("the escape '\\") + (at_end() ? "" : read_character()) + "'");
    const std::string character = read_character();
    if (!in_class)
        return json_character(character);
    return std::string("\\x") + "0123456789abcdef"[std::uint8_t(character[0]) >> 4] +
           "0123456789abcdef"[std::uint8_t(character[0]) & 15];
}

Result<std::string> PatternReader::read_class()
{
    const bool others = take("^");
    std::string members;
    while (!take("]")) {
        if (at_end())
            return has("a class without ']'");
        if (take("\\")) {
            auto escape = read_escape(true);
            if (!escape)
                return escape;
            if (*escape == "\\x22" || *escape == "\\x5c")
                return has("a class with '\"' or '\\'");
            members += *escape;
        } else {
            const std::string character = read_character();
            if (character == "\"")
                return has("a class with '\"' or '\\'");
            members += character == "[" ? "\\[" : character;
        }
    }
    if (members.empty())
        return has("an empty class");
    return others ? "[^" + members + R"("\\\x00-\x1f\x7f])" : "[" + members + "]";
}

Result<std::string> PatternReader::read_repeats()
{
    std::string repeats;
    if (take("*"))
        repeats = "*";
    else if (take("+"))
        repeats = "+";
    else if (take("?"))
        repeats = "?";
    else if (here() == '{') {
        const std::size_t end = text_.find('}', at_);
        if (end == std::string_view::npos)
            return has("a '{' without '}'");
        repeats = text_.substr(at_, end + 1 - at_);
        at_ = end + 1;
        if (repeats.find_first_not_of("{},0123456789") != std::string::npos)
            return has("'" + repeats + "'");
    }
    if (!repeats.empty() && (here() == '+' || here() == '?'))
        return has("a repetition of the kind '" + repeats + here() + "'");
    return repeats;
}

}  // namespace

Result<std::string> gbnf_of_pattern(std::string_view pattern)
{
    return PatternReader(pattern).read();
}

}  // namespace engine
