// Numbers (with underscores and prefixes) and string escapes, as in Python.
#include "engine/template/literal.h"

#include "engine/template/unicode.h"

#include <charconv>
#include <cstdlib>

namespace engine::jinja {

// ---- numbers ----

static bool is_digit_of(char c, int base)
{
    if (c >= '0' && c <= '9')
        return c - '0' < base;
    return base == 16 && ((c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'));
}

// Reads digits with single underscores between them, from `at` on; the digits alone go to `out`. Returns the end.
static std::size_t digits(std::string_view text, std::size_t at, int base, std::string& out)
{
    while (at < text.size()) {
        if (is_digit_of(text[at], base))
            out += text[at++];
        else if (text[at] == '_' && !out.empty() && at + 1 < text.size() && is_digit_of(text[at + 1], base))
            ++at;
        else
            break;
    }
    return at;
}

static NumberLiteral integer_of(const std::string& spelled, int base, std::size_t bytes)
{
    NumberLiteral number;
    number.bytes = bytes;
    const char* end = spelled.data() + spelled.size();
    number.fits = std::from_chars(spelled.data(), end, number.integer, base).ec == std::errc();
    return number;
}

static bool starts_exponent(std::string_view text, std::size_t at)
{
    if (at >= text.size() || (text[at] != 'e' && text[at] != 'E'))
        return false;
    at += at + 1 < text.size() && (text[at + 1] == '+' || text[at + 1] == '-') ? 2 : 1;
    return at < text.size() && is_digit_of(text[at], 10);
}

NumberLiteral read_number(std::string_view text, bool after_dot)
{
    std::string spelled;
    const std::size_t whole = digits(text, 0, 10, spelled);
    const bool has_fraction = whole + 1 < text.size() && text[whole] == '.' && is_digit_of(text[whole + 1], 10);
    if (!after_dot && (has_fraction || starts_exponent(text, whole))) {
        std::size_t end = whole;
        std::string part;
        if (has_fraction) {
            end = digits(text, end + 1, 10, part);
            spelled += "." + part;
        }
        if (starts_exponent(text, end)) {
            const std::size_t sign = text[end + 1] == '+' || text[end + 1] == '-' ? 1 : 0;
            spelled += sign && text[end + 1] == '-' ? "e-" : "e";
            part.clear();
            end = digits(text, end + 1 + sign, 10, part);
            spelled += part;
        }
        NumberLiteral number;
        number.bytes = end;
        number.is_float = true;
        const auto read = std::from_chars(spelled.data(), spelled.data() + spelled.size(), number.real);
        if (read.ec == std::errc::result_out_of_range)
            number.real = std::strtod(spelled.c_str(), nullptr);  // out of range: infinity or zero, as in Python
        return number;
    }
    if (text.size() > 2 && text[0] == '0') {
        const char prefix = text[1] | 0x20;
        const int base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 0;
        const std::size_t first = text[2] == '_' ? 3 : 2;
        if (base && first < text.size() && is_digit_of(text[first], base)) {
            spelled.clear();
            const std::size_t end = digits(text, first, base, spelled);
            return integer_of(spelled, base, end);
        }
    }
    if (text[0] != '0')
        return integer_of(spelled, 10, whole);
    std::size_t zeros = 1;  // 0, 00, 0_0: Jinja reads zero and leaves other digits behind
    while (zeros < text.size() && (text[zeros] == '0' || (text[zeros] == '_' && text.substr(zeros + 1, 1) == "0")))
        ++zeros;
    return integer_of("0", 10, zeros);
}

// ---- strings ----

static bool read_code(std::string_view content, std::size_t& at, std::size_t count, char32_t& code)
{
    code = 0;
    for (std::size_t i = 0; i < count; ++i, ++at) {
        if (at >= content.size() || !is_digit_of(content[at], 16))
            return false;
        const char c = content[at];
        code = code * 16 + char32_t(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
    }
    return code <= 0x10ffff;
}

static char simple_escape(char c)
{
    switch (c) {
    case 'a':
        return '\a';
    case 'b':
        return '\b';
    case 'f':
        return '\f';
    case 'n':
        return '\n';
    case 'r':
        return '\r';
    case 't':
        return '\t';
    case 'v':
        return '\v';
    case '\\':
    case '\'':
    case '"':
        return c;
    default:
        return '\0';
    }
}

// Reads \x41, \u0041, \U00000041, or the two halves of a surrogate pair; `at` is behind the letter.
static bool append_code(std::string_view content, std::size_t& at, std::size_t count, std::string& value)
{
    char32_t code = 0;
    if (!read_code(content, at, count, code))
        return false;
    if (code >= 0xd800 && code < 0xdc00 && content.substr(at, 2) == "\\u") {
        std::size_t after = at + 2;
        char32_t low = 0;
        if (read_code(content, after, 4, low) && low >= 0xdc00 && low < 0xe000) {
            code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            at = after;
        }
    }
    unicode::append(value, code);
    return true;
}

bool unescape(std::string_view content, std::string& value)
{
    for (std::size_t at = 0; at < content.size();) {
        if (content[at] != '\\' || at + 1 >= content.size()) {
            value += content[at++];
            continue;
        }
        const char c = content[at + 1];
        at += 2;
        if (c == '\n')
            continue;  // a backslash joins lines
        if (const char simple = simple_escape(c)) {
            value += simple;
        } else if (c == 'x' || c == 'u' || c == 'U') {
            if (!append_code(content, at, c == 'x' ? 2 : c == 'u' ? 4 : 8, value))
                return false;
        } else if (c >= '0' && c <= '7') {
            char32_t code = char32_t(c - '0');
            for (int i = 0; i < 2 && at < content.size() && is_digit_of(content[at], 8); ++i)
                code = code * 8 + char32_t(content[at++] - '0');
            unicode::append(value, code);
        } else if (c == 'N') {
            return false;  // characters by name are not known here
        } else {
            value += '\\';
            value += c;
        }
    }
    return true;
}

}  // namespace engine::jinja
