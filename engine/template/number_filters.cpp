// Filters that make numbers.
#include "engine/template/filters.h"
#include "engine/template/interpreter.h"
#include "engine/template/operators.h"
#include "engine/template/parameters.h"
#include "engine/template/unicode.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace engine::jinja {

// ---- reading numbers as Python's int() and float() do ----

// Returns a number's text without space around it and single underscores between digits; empty where they are
// misplaced.
static std::string plain_number(std::string_view text)
{
    text = unicode::strip_right(unicode::strip_left(text));
    std::string plain;
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto is_alnum = [&](std::size_t at) {
            const char c = at < text.size() ? char(text[at] | 0x20) : '\0';
            return at < text.size() && ((c >= 'a' && c <= 'z') || (text[at] >= '0' && text[at] <= '9'));
        };
        if (text[i] != '_')
            plain += text[i];
        else if (i == 0 || !is_alnum(i - 1) || !is_alnum(i + 1))
            return {};
    }
    return plain;
}

static bool read_integer(std::string_view text, std::int64_t base, std::int64_t& value)
{
    std::string plain = plain_number(text);
    const bool negative = !plain.empty() && plain[0] == '-';
    if (!plain.empty() && (plain[0] == '-' || plain[0] == '+'))
        plain.erase(0, 1);
    const char prefix = plain.size() > 2 && plain[0] == '0' ? char(plain[1] | 0x20) : '\0';
    const std::int64_t prefix_base = prefix == 'x' ? 16 : prefix == 'o' ? 8 : prefix == 'b' ? 2 : 0;
    if (prefix_base && (base == prefix_base || base == 0)) {
        plain.erase(0, 2);
        base = prefix_base;
    }
    if (base == 0)
        base = 10;
    if (base < 2 || base > 36 || plain.empty() || plain[0] == '-' || plain[0] == '+')
        return false;
    std::uint64_t magnitude = 0;
    const char* end = plain.data() + plain.size();
    const auto read = std::from_chars(plain.data(), end, magnitude, int(base));
    if (read.ptr != end || read.ec == std::errc::invalid_argument)
        return false;
    if (read.ec != std::errc() || magnitude > std::uint64_t(INT64_MAX))
        throw TemplateError("an integer does not fit 64 bits");
    value = negative ? -std::int64_t(magnitude) : std::int64_t(magnitude);
    return true;
}

static bool read_float(std::string_view text, double& value)
{
    std::string plain = plain_number(text);
    const bool negative = !plain.empty() && plain[0] == '-';
    if (!plain.empty() && (plain[0] == '-' || plain[0] == '+'))
        plain.erase(0, 1);
    if (plain.empty() || plain[0] == '-' || plain[0] == '+' || plain.find('(') != std::string::npos)
        return false;
    const char* end = plain.data() + plain.size();
    const auto read = std::from_chars(plain.data(), end, value);  // knows inf, infinity and nan as well
    if (read.ptr != end || read.ec == std::errc::invalid_argument)
        return false;
    if (read.ec == std::errc::result_out_of_range)
        value = std::strtod(plain.c_str(), nullptr);  // out of range: zero or infinity
    value = negative ? -value : value;
    return true;
}

static bool to_integer(double real, std::int64_t& value)
{
    if (!(real > -9.2e18 && real < 9.2e18))
        return false;
    value = std::int64_t(real);
    return true;
}

static Value to_int(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("int", arguments, {"default", "base"});
    std::int64_t value = 0;
    double real = 0;
    if (input.is_undefined())
        fail_undefined(input);
    if (input.is_integer())
        return Value::integer(input.as_integer());
    if (input.is(Type::Float) && to_integer(input.as_real(), value))
        return Value::integer(value);
    if (input.is_string()) {
        in.heap.budget.spend_on_text(input.text().size() * 4);
        if (read_integer(input.text(), p.integer(1, 10), value))
            return Value::integer(value);
        if (read_float(input.text(), real) && to_integer(real, value))  // "42.23" gives 42
            return Value::integer(value);
    }
    return p.given(0) ? p[0] : Value::integer(0);
}

static Value to_float(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("float", arguments, {"default"});
    double real = 0;
    if (input.is_undefined())
        fail_undefined(input);
    if (input.is_number())
        return Value::real(input.as_real());
    if (input.is_string()) {
        in.heap.budget.spend_on_text(input.text().size() * 4);
        if (read_float(input.text(), real))
            return Value::real(real);
    }
    return p.given(0) ? p[0] : Value::real(0);
}

// ---- arithmetic ----

static Value absolute(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("abs", arguments, {});
    if (input.is_undefined())
        fail_undefined(input);
    if (input.is(Type::Float))
        return Value::real(std::abs(input.as_real()));
    if (!input.is_integer())
        fail_type("bad operand type for abs(): '" + std::string(type_name(input)) + "'");
    return input.as_integer() < 0 ? negate(in.heap, input) : Value::integer(input.as_integer());
}

// Rounds half to even on the number's exact decimal value, as Python does.
static double rounded(double value, std::int64_t digits)
{
    if (!std::isfinite(value) || digits > 300)
        return value;
    if (digits < 0) {
        if (digits < -308)
            return 0.0 * value;
        const double unit = std::pow(10.0, double(-digits));
        return std::nearbyint(value / unit) * unit;
    }
    char buffer[700];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, int(digits)).ptr;
    double result = value;
    std::from_chars(buffer, end, result);
    return result;
}

static Value round_integer(Heap& heap, const Value& input, std::int64_t digits)
{
    if (digits >= 0)
        return Value::integer(input.as_integer());
    if (digits < -18)
        return Value::integer(0);
    std::int64_t unit = 1;
    for (std::int64_t i = digits; i < 0; ++i)
        unit *= 10;
    const Value rest = arithmetic(heap, Operator::Modulo, input, Value::integer(unit));  // 0 <= rest < unit
    const std::int64_t value = input.as_integer(), over = rest.as_integer();
    const std::int64_t units = value / unit - (value < 0 && over != 0 ? 1 : 0);  // rounded down
    const bool up = 2 * over > unit || (2 * over == unit && units % 2 != 0);
    return up ? arithmetic(heap, Operator::Add, Value::integer(value), Value::integer(unit - over))
              : arithmetic(heap, Operator::Subtract, Value::integer(value), rest);
}

static Value round(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("round", arguments, {"precision", "method"});
    const std::string method = p.given(1) ? p.text(1) : "common";
    const std::int64_t digits = p.integer(0, 0);
    if (method != "common" && method != "ceil" && method != "floor")
        throw TemplateError("method must be common, ceil or floor");
    if (input.is_undefined())
        fail_undefined(input);
    if (!input.is_number())
        fail_type("type " + std::string(type_name(input)) + " doesn't define __round__ method");
    if (method == "common")
        return input.is_integer() ? round_integer(in.heap, input, digits)
                                  : Value::real(rounded(input.as_real(), digits));
    const double scale = std::pow(10.0, double(digits));
    const double scaled = input.as_real() * scale;
    return Value::real((method == "ceil" ? std::ceil(scaled) : std::floor(scaled)) / scale);
}

FilterBody find_number_filter(std::string_view name)
{
    static constexpr std::pair<std::string_view, FilterBody> kFilters[] = {
        {"int", to_int}, {"float", to_float}, {"abs", absolute}, {"round", round}};
    for (const auto& [known, body] : kFilters)
        if (known == name)
            return body;
    return nullptr;
}

}  // namespace engine::jinja
