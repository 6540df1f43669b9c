// Reads GBNF, the notation of llama.cpp's grammars.
#include "engine/grammar/grammar_builder.h"

#include <algorithm>
#include <array>
#include <optional>
#include <tuple>
#include <utility>

namespace engine {

namespace {

class GbnfParser
{
public:
    explicit GbnfParser(std::string_view text)
        : text_(text)
    {
    }
    Result<Grammar> read();

private:
    using Part = GrammarBuilder::Part;

    bool at_end() const { return at_ == text_.size(); }
    char here() const { return at_end() ? '\0' : text_[at_]; }
    bool take(std::string_view word);
    bool take_newline();
    void skip_space(bool over_lines);
    bool goes_on_in_next_line();
    std::string_view take_name();
    std::string shown() const;
    tl::unexpected<Error> fail_here(const std::string& what) const;

    Status read_rule();
    Result<Part> read_choices(int depth);
    Result<Part> read_sequence(int depth);
    bool begins_item();
    Result<Part> read_item(int depth);
    Result<Part> read_literal();
    Result<Part> read_class();
    Result<Part> read_repeats(Part part);
    Result<int> read_number();
    Result<char32_t> read_character();
    Result<char32_t> read_escape();
    Result<char32_t> read_hex(int digits);

    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
    GrammarBuilder builder_;
};

bool is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

tl::unexpected<Error> GbnfParser::fail_here(const std::string& what) const
{
    return fail(Error::Code::BadRequest, "line " + std::to_string(line_) + " of the grammar: " + what);
}

/// Returns what comes next, for a sentence.
std::string GbnfParser::shown() const
{
    return here() > ' ' && here() < 127 ? std::string("'") + here() + "'" : "this character";
}

bool GbnfParser::take(std::string_view word)
{
    if (!text_.substr(at_).starts_with(word))
        return false;
    at_ += word.size();
    return true;
}

bool GbnfParser::take_newline()
{
    if (!take("\r\n") && !take("\n") && !take("\r"))
        return false;
    ++line_;
    return true;
}

/// Skips spaces and comments; with `over_lines` also line ends.
void GbnfParser::skip_space(bool over_lines)
{
    for (;;) {
        if (here() == ' ' || here() == '\t') {
            ++at_;
        } else if (here() == '#') {
            while (!at_end() && here() != '\n' && here() != '\r')
                ++at_;
        } else if (!over_lines || !take_newline()) {
            return;
        }
    }
}

/// Says whether the rule goes on in the next line, which then begins with '|'.
bool GbnfParser::goes_on_in_next_line()
{
    const auto before = std::pair(at_, line_);
    skip_space(true);
    if (here() == '|')
        return true;
    std::tie(at_, line_) = before;
    return false;
}

std::string_view GbnfParser::take_name()
{
    const std::size_t first = at_;
    while (is_name_character(here()))
        ++at_;
    return text_.substr(first, at_ - first);
}

Result<Grammar> GbnfParser::read()
{
    if (text_.size() > Grammar::kMostText)
        return fail(Error::Code::BadRequest, "the grammar is larger than 1 MiB");
    skip_space(true);
    while (!at_end()) {
        if (const Status ok = read_rule(); !ok)
            return tl::unexpected(ok.error());
        skip_space(true);
    }
    return builder_.finish();
}

Status GbnfParser::read_rule()
{
    const int line = line_;
    const std::string name(take_name());
    if (name.empty())
        return fail_here("a rule begins with its name");
    skip_space(false);
    if (!take("::="))
        return fail_here("'::=' is missing behind the name '" + name + "'");
    skip_space(true);
    const auto part = read_choices(0);
    if (!part)
        return tl::unexpected(part.error());
    if (!at_end() && !take_newline())
        return fail_here("this is not understood: " + shown());
    if (!builder_.define(name, *part, line))
        return fail(Error::Code::BadRequest,
                    "line " + std::to_string(line) + " of the grammar: the rule '" + name + "' is defined twice");
    return {};
}

Result<GrammarBuilder::Part> GbnfParser::read_choices(int depth)
{
    auto all = read_sequence(depth);
    while (all && (here() == '|' || (depth == 0 && goes_on_in_next_line()))) {
        ++at_;
        skip_space(true);
        auto another = read_sequence(depth);
        if (!another)
            return another;
        all = builder_.either(*all, *another);
    }
    return all;
}

bool GbnfParser::begins_item()
{
    return here() != '\0' &&
           (is_name_character(here()) || std::string_view("\"[(.").find(here()) != std::string_view::npos);
}

Result<GrammarBuilder::Part> GbnfParser::read_sequence(int depth)
{
    Part all = builder_.nothing();
    while (begins_item()) {
        auto item = read_item(depth);
        if (item) {
            skip_space(depth > 0);
            item = read_repeats(*item);
        }
        if (!item)
            return item;
        if (builder_.full())
            return fail_here("the grammar is too large from here on");
        all = builder_.then(all, *item);
        skip_space(depth > 0);
    }
    if (here() == '<' || here() == '!')
        return fail_here("tokens in angle brackets are not supported; write their text in quotes");
    return all;
}

Result<GrammarBuilder::Part> GbnfParser::read_item(int depth)
{
    if (here() == '"')
        return read_literal();
    if (here() == '[')
        return read_class();
    if (take(".")) {
        CharacterSet any;
        any.negate();
        return builder_.character(any);
    }
    if (!take("("))
        return builder_.rule(take_name(), line_);
    if (depth == Grammar::kMostDepth)
        return fail_here("groups lie more than " + std::to_string(Grammar::kMostDepth) + " deep within each other");
    skip_space(true);
    auto part = read_choices(depth + 1);
    if (part && !take(")"))
        return fail_here("a group has no ')'");
    return part;
}

Result<GrammarBuilder::Part> GbnfParser::read_literal()
{
    take("\"");
    Part all = builder_.nothing();
    while (!take("\"")) {
        const auto character = read_character();
        if (!character)
            return tl::unexpected(character.error());
        CharacterSet one;
        one.add(*character);
        all = builder_.then(all, builder_.character(one));
        if (builder_.full())
            return fail_here("the grammar is too large from here on");
    }
    return all;
}

Result<GrammarBuilder::Part> GbnfParser::read_class()
{
    take("[");
    const bool others = take("^");
    CharacterSet set;
    bool empty = true;
    while (!take("]")) {
        const auto first = read_character();
        if (!first)
            return tl::unexpected(first.error());
        auto last = first;
        if (here() == '-' && text_.substr(at_ + 1, 1) != "]") {
            ++at_;
            last = read_character();
            if (!last)
                return tl::unexpected(last.error());
            if (*last < *first)
                return fail_here("a range of characters runs backwards");
        }
        set.add(*first, *last);
        empty = false;
    }
    if (empty && !others)
        return fail_here("'[]' is no character");
    if (others)
        set.negate();
    return builder_.character(set);
}

Result<int> GbnfParser::read_number()
{
    int number = 0;
    if (here() < '0' || here() > '9')
        return fail_here("a number is missing in {}");
    for (; here() >= '0' && here() <= '9'; ++at_) {
        number = 10 * number + (here() - '0');
        if (number > Grammar::kMostRepeats)
            return fail_here("nothing may be repeated more than " + std::to_string(Grammar::kMostRepeats) + " times");
    }
    skip_space(false);
    return number;
}

Result<GrammarBuilder::Part> GbnfParser::read_repeats(Part part)
{
    if (take("*"))
        return builder_.repeat(part, 0, {});
    if (take("+"))
        return builder_.repeat(part, 1, {});
    if (take("?"))
        return builder_.repeat(part, 0, 1);
    if (!take("{"))
        return part;
    skip_space(false);
    const auto least = read_number();
    if (!least)
        return tl::unexpected(least.error());
    std::optional<int> most = *least;
    if (take(",")) {
        skip_space(false);
        most.reset();
        if (here() != '}') {
            const auto number = read_number();
            if (!number)
                return tl::unexpected(number.error());
            most = *number;
        }
    }
    if (!take("}"))
        return fail_here("a '{' has no '}'");
    if (most && *most < *least)
        return fail_here("the numbers in {} run backwards");
    return builder_.repeat(part, *least, most);
}

/// Reads a character of a literal or a class, which end in their line.
Result<char32_t> GbnfParser::read_character()
{
    if (at_end() || here() == '\n' || here() == '\r')
        return fail_here("a '\"' or '[' is not closed");
    if (take("\\"))
        return read_escape();
    const auto lead = std::uint8_t(text_[at_]);
    const int size = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    char32_t character = size == 1 ? lead : lead & (0x7F >> size);
    for (const char byte : text_.substr(at_ + 1, std::size_t(size) - 1))
        character = character << 6 | (std::uint8_t(byte) & 0x3F);
    std::string again;  // the text written again, which differs where it is no UTF-8
    if (character <= CharacterSet::kLast)
        append_utf8(character, again);
    if (again != text_.substr(at_, std::size_t(size)))
        return fail_here("this is not UTF-8");
    at_ += std::size_t(size);
    return character;
}

Result<char32_t> GbnfParser::read_escape()
{
    static constexpr std::array<std::pair<char, char>, 8> kSame = {
        {{'t', '\t'}, {'r', '\r'}, {'n', '\n'}, {'\\', '\\'}, {'"', '"'}, {'[', '['}, {']', ']'}, {'-', '-'}}};
    if (take("x"))
        return read_hex(2);
    if (take("u"))
        return read_hex(4);
    if (take("U"))
        return read_hex(8);
    for (const auto& [letter, character] : kSame)
        if (take(std::string_view(&letter, 1)))
            return char32_t(character);
    return fail_here("there is no escape with " + shown());
}

Result<char32_t> GbnfParser::read_hex(int digits)
{
    static constexpr std::string_view kDigits = "0123456789abcdef";
    std::uint64_t character = 0;
    for (int i = 0; i < digits; ++i, ++at_) {
        const char lower = char(here() >= 'A' && here() <= 'F' ? here() + 'a' - 'A' : here());
        const auto digit = kDigits.find(lower);
        if (at_end() || digit == std::string_view::npos)
            return fail_here("an escape lacks some of its " + std::to_string(digits) + " digits");
        character = character << 4 | digit;
    }
    if (character > CharacterSet::kLast)
        return fail_here("there is no character beyond \\U0010FFFF");
    return char32_t(character);
}

}  // namespace

Result<Grammar> Grammar::parse(std::string_view gbnf)
{
    return GbnfParser(gbnf).read();
}

}  // namespace engine
