// Formatting single values. No C library formatting: its decimal point depends on the user's locale.
#include "engine/template/format.h"

#include "engine/template/operators.h"
#include "engine/template/text_of.h"
#include "engine/template/unicode.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace engine::jinja {

// ---- parsing ----

static bool is_align(char c)
{
    return c == '<' || c == '>' || c == '^' || c == '=';
}

static std::int64_t read_count(std::string_view text, std::size_t& at)
{
    constexpr std::int64_t kMost = 100'000'000;
    std::int64_t value = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at)
        value = std::min(value * 10 + (text[at] - '0'), kMost);
    return value;
}

FormatSpec parse_format_spec(std::string_view text)
{
    FormatSpec spec;
    std::size_t at = 0;
    if (!text.empty()) {
        std::size_t after = 0;
        unicode::next(text, after);
        if (after < text.size() && is_align(text[after])) {
            spec.fill = text.substr(0, after);
            spec.align = text[after];
            at = after + 1;
        } else if (is_align(text[0])) {
            spec.align = text[0];
            at = 1;
        }
    }
    const auto skip = [&](char c) { return at < text.size() && text[at] == c && ++at; };
    if (skip('+') || skip('-') || skip(' '))
        spec.sign = text[at - 1];
    spec.alternate = skip('#');
    if (skip('0') && spec.align == '\0') {
        spec.fill = "0";
        spec.align = '=';
    }
    spec.width = read_count(text, at);
    if (skip(',') || skip('_'))
        spec.grouping = text[at - 1];
    if (skip('.')) {
        const std::size_t before = at;
        spec.precision = read_count(text, at);
        if (at == before)
            throw TemplateError("Format specifier missing precision");
    }
    if (at < text.size())
        spec.type = text[at++];
    if (at != text.size())
        throw TemplateError("Invalid format specifier");
    return spec;
}

// ---- writing ----

namespace {

struct Padding {
    std::string left, right;
};

}  // namespace

// Returns the padding of a text of this many characters and bytes.
static Padding padding(Heap& heap, const FormatSpec& spec, char align, std::int64_t length, std::size_t bytes)
{
    Padding fill;
    const std::int64_t room = spec.width - length;
    if (room <= 0)
        return fill;
    heap.budget.check_string(std::uint64_t(room) * spec.fill.size() + bytes);
    const std::int64_t before = align == '<' ? 0 : align == '^' ? room / 2 : room;
    for (std::int64_t i = 0; i < before; ++i)
        fill.left += spec.fill;
    for (std::int64_t i = before; i < room; ++i)
        fill.right += spec.fill;
    return fill;
}

static std::string padded_number(Heap& heap, const FormatSpec& spec, const std::string& prefix,
                                 const std::string& digits)
{
    const char align = spec.align ? spec.align : '>';
    const auto [left, right] =
        padding(heap, spec, align, unicode::length(prefix) + unicode::length(digits), digits.size());
    return align == '=' ? prefix + left + digits : left + prefix + digits + right;
}

static std::string grouped(std::string digits, const FormatSpec& spec, std::size_t group)
{
    if (!spec.grouping)
        return digits;
    const std::size_t whole = std::min(digits.find_first_not_of("0123456789abcdefABCDEF"), digits.size());
    for (std::size_t at = whole; at > group; at -= group)
        digits.insert(at - group, 1, spec.grouping);
    return digits;
}

static std::string sign_of(bool negative, const FormatSpec& spec)
{
    if (negative)
        return "-";
    return spec.sign == '-' ? "" : std::string(1, spec.sign);
}

TracedText format_text(Heap& heap, const TracedText& text, const FormatSpec& spec)
{
    std::string_view kept = text.bytes();
    if (spec.precision >= 0)
        kept = kept.substr(0, unicode::byte_of(kept, spec.precision));
    const auto [left, right] = padding(heap, spec, spec.align ? spec.align : '<', unicode::length(kept), kept.size());
    TracedText out(left);
    out.append(text, kept);
    out.append(right, kOtherText);
    return out;
}

static std::string upper_ascii(std::string text)
{
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char c) { return char(c >= 'a' && c <= 'z' ? c - 32 : c); });
    return text;
}

std::string format_integer(Heap& heap, std::int64_t value, const FormatSpec& spec)
{
    if (spec.type == 'c') {
        if (value < 0 || value > 0x10ffff)
            throw TemplateError("%c arg not in range(0x110000)");
        std::string text;
        unicode::append(text, char32_t(value));
        return format_text(heap, TracedText(text), spec).take_bytes();
    }
    const int base = spec.type == 'x' || spec.type == 'X' ? 16 : spec.type == 'o' ? 8 : spec.type == 'b' ? 2 : 10;
    const std::uint64_t magnitude = value < 0 ? 0 - std::uint64_t(value) : std::uint64_t(value);
    char buffer[80];
    std::string digits(buffer, std::to_chars(buffer, buffer + sizeof buffer, magnitude, base).ptr);
    if (spec.precision > std::int64_t(digits.size())) {  // with %, precision is the fewest digits
        heap.budget.check_string(std::uint64_t(spec.precision));
        digits.insert(0, std::size_t(spec.precision) - digits.size(), '0');
    }
    digits = grouped(std::move(digits), spec, base == 10 ? 3 : 4);
    std::string prefix = sign_of(value < 0, spec);
    if (spec.alternate && base != 10)
        prefix += base == 16 ? "0x" : base == 8 ? "0o" : "0b";
    if (spec.type == 'X') {
        prefix = upper_ascii(std::move(prefix));
        digits = upper_ascii(std::move(digits));
    }
    return padded_number(heap, spec, prefix, digits);
}

static std::string digits_of(double magnitude, const FormatSpec& spec)
{
    if (std::isinf(magnitude))
        return "inf";
    if (std::isnan(magnitude))
        return "nan";
    if (spec.type == '\0' && spec.precision < 0)
        return float_text(magnitude);
    constexpr std::int64_t kMostDigits = 1000;
    if (spec.precision > kMostDigits)
        throw TemplateError("precision too big");
    const int precision = spec.precision < 0 ? 6 : int(spec.precision);
    char buffer[1400];  // 309 digits before the point, 1000 behind it
    auto style = std::chars_format::fixed;
    if (spec.type == 'e' || spec.type == 'E')
        style = std::chars_format::scientific;
    if (spec.type == 'g' || spec.type == 'G' || spec.type == 'n' || spec.type == '\0')
        style = std::chars_format::general;
    const bool is_percent = spec.type == '%';
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, is_percent ? magnitude * 100 : magnitude, style,
                                   style == std::chars_format::general ? std::max(precision, 1) : precision)
                         .ptr;
    std::string digits(buffer, end);
    if (spec.type == '\0' && digits.find_first_of(".e") == std::string::npos)
        digits += ".0";
    return is_percent ? digits + "%" : digits;
}

std::string format_float(Heap& heap, double value, const FormatSpec& spec)
{
    std::string digits = grouped(digits_of(std::abs(value), spec), spec, 3);
    if (spec.type == 'E' || spec.type == 'F' || spec.type == 'G')
        digits = upper_ascii(std::move(digits));
    return padded_number(heap, spec, sign_of(std::signbit(value) && !std::isnan(value), spec), digits);
}

TracedText format_value(Heap& heap, const Value& value, const FormatSpec& spec)
{
    static constexpr std::string_view kFloatTypes = "eEfFgGn%";
    static constexpr std::string_view kIntegerTypes = "dxXobcn";
    const bool wants_float = spec.type && kFloatTypes.find(spec.type) != std::string_view::npos;
    const bool wants_integer = spec.type && kIntegerTypes.find(spec.type) != std::string_view::npos;
    const auto refuse = [&] {
        throw TemplateError(std::string("Unknown format code '") + spec.type + "' for object of type '" +
                            std::string(type_name(value)) + "'");
    };
    if (value.is(Type::Float) || (value.is_integer() && wants_float && spec.type != 'n')) {
        if (spec.type && !wants_float)
            refuse();
        return TracedText(format_float(heap, value.as_real(), spec));
    }
    if (value.is_integer() && (wants_integer || value.is(Type::Int))) {
        if (spec.type && !wants_integer)
            refuse();
        return TracedText(format_integer(heap, value.as_integer(), spec));
    }
    if (spec.type && spec.type != 's')
        refuse();
    return format_text(heap, traced_text(heap, value), spec);
}

}  // namespace engine::jinja
