// Turns the regular expressions of JSON Schema, as far as they are simple, into GBNF for the JSON string.
#include "engine/grammar/schema_text.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace engine {

namespace {

/// A range of characters, each in UTF-8: compared as bytes they are in the order of their code points.
struct Range {
    std::string first, last;
};

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
    std::vector<Range> set_at(std::size_t at) const;
    bool begins_range() const;
    Result<std::string> read_member();
    Result<std::string> read_escape();
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

/// Writes a character as JSON has it in a string.
std::string json_character(const std::string& utf8)
{
    if (utf8 == "\"" || utf8 == "\\")
        return gbnf_literal("\\" + utf8);
    return gbnf_literal(utf8);
}

std::string class_members(const std::vector<Range>& ranges)
{
    const auto spelt = [](const std::string& utf8) {
        constexpr std::string_view kHex = "0123456789abcdef";
        const auto byte = std::uint8_t(utf8.front());
        return utf8.size() > 1 ? utf8 : std::string("\\x") + kHex[byte >> 4] + kHex[byte & 15];
    };
    std::string all;
    for (const auto& [first, last] : ranges)
        all += spelt(first) + (first == last ? "" : "-" + spelt(last));
    return all;
}

/// Writes one character of these as JSON has it: quotes and backslashes, which may lie within a range, are escaped
/// there.
std::string json_class(std::vector<Range> ranges)
{
    std::string escaped;
    for (const char c : {'"', '\\'}) {
        const std::string one(1, c);
        std::vector<Range> others;
        for (const Range& range : ranges) {
            if (range.first < one)
                others.push_back({range.first, std::min(range.last, std::string(1, char(c - 1)))});
            if (one < range.last)
                others.push_back({std::max(range.first, std::string(1, char(c + 1))), range.last});
        }
        if (std::ranges::any_of(ranges, [&](const Range& range) { return range.first <= one && one <= range.last; }))
            escaped += " | " + json_character(one);
        ranges = std::move(others);
    }
    if (ranges.empty())
        return "(" + escaped.substr(3) + ")";
    const std::string plain = "[" + class_members(ranges) + "]";
    return escaped.empty() ? plain : "(" + plain + escaped + ")";
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
    if (auto set = set_at(at_); !set.empty()) {
        at_ += 2;
        return json_class(std::move(set));
    }
    if (take("\\")) {
        const auto character = read_escape();
        return character ? json_character(*character) : character;
    }
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

/// Returns the characters for which an escape there stands, if these are several; empty: it is no such escape.
std::vector<Range> PatternReader::set_at(std::size_t at) const
{
    const std::string_view escape = text_.substr(std::min(at, text_.size()), 2);
    if (escape == "\\d")
        return {{"0", "9"}};
    if (escape == "\\w")
        return {{"A", "Z"}, {"a", "z"}, {"0", "9"}, {"_", "_"}};
    if (escape == "\\s")
        return {{" ", " "}};  // others do not stand in a JSON string as they are
    return {};
}

Result<std::string> PatternReader::read_escape()
{
    if (std::string_view(".*+?^$(){}[]|/\\-\"'@#&%:;,=<>!~` ").find(here()) == std::string_view::npos || at_end())
        return has(std::string("the escape '\\") + (at_end() ? "" : read_character()) + "'");
    return read_character();
}

/// Reads a character of a class.
Result<std::string> PatternReader::read_member()
{
    if (at_end())
        return has("a class without ']'");
    return take("\\") ? read_escape() : read_character();
}

/// Says whether '-' begins a range here. At the end, or beside an escape for several characters, it stands for itself.
bool PatternReader::begins_range() const
{
    return here() == '-' && text_.substr(at_ + 1, 1) != "]" && set_at(at_ + 1).empty();
}

Result<std::string> PatternReader::read_class()
{
    const bool others = take("^");
    std::vector<Range> ranges;
    while (!take("]")) {
        if (const auto set = set_at(at_); !set.empty()) {
            at_ += 2;
            ranges.insert(ranges.end(), set.begin(), set.end());
            if (take("-"))
                ranges.push_back({"-", "-"});
            continue;
        }
        const auto first = read_member();
        const bool on = first && begins_range();
        at_ += on ? 1 : 0;
        auto last = on ? read_member() : first;
        if (!last)
            return last;
        if (*last < *first)
            return has("a range of characters that runs backwards");
        ranges.push_back({*first, *last});
    }
    if (ranges.empty())
        return has("an empty class");
    return others ? "[^" + class_members(ranges) + R"("\\\x00-\x1f\x7f])" : json_class(std::move(ranges));
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
