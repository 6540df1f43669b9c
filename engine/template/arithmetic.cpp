// Python's arithmetic and slicing. Integers have 64 bits here: a result beyond that is an error, never a wrong number.
#include "engine/template/format.h"
#include "engine/template/iterate.h"
#include "engine/template/operators.h"
#include "engine/template/output.h"
#include "engine/template/unicode.h"

#include <cmath>

namespace engine::jinja {

static std::string_view symbol_of(Operator op)
{
    switch (op) {
    case Operator::Add:
        return "+";
    case Operator::Subtract:
        return "-";
    case Operator::Multiply:
        return "*";
    case Operator::Divide:
        return "/";
    case Operator::FloorDivide:
        return "//";
    case Operator::Modulo:
        return "%";
    default:
        return "** or pow()";
    }
}

[[noreturn]] static void fail_operands(Operator op, const Value& a, const Value& b)
{
    fail_type("unsupported operand type(s) for " + std::string(symbol_of(op)) + ": '" + std::string(type_name(a)) +
              "' and '" + std::string(type_name(b)) + "'");
}

[[noreturn]] static void fail_overflow()
{
    throw TemplateError("an integer does not fit 64 bits");
}

static std::int64_t multiply(std::int64_t a, std::int64_t b)
{
    std::int64_t result;
    if (__builtin_mul_overflow(a, b, &result))
        fail_overflow();
    return result;
}

static std::int64_t floor_divide(std::int64_t a, std::int64_t b)
{
    if (b == 0)
        throw TemplateError("integer division or modulo by zero");
    if (b == -1)
        return multiply(a, -1);
    return a / b - ((a % b != 0 && (a % b < 0) != (b < 0)) ? 1 : 0);
}

static std::int64_t floor_modulo(std::int64_t a, std::int64_t b)
{
    if (b == 0)
        throw TemplateError("integer modulo by zero");
    if (b == -1)
        return 0;
    const std::int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static Value power(std::int64_t base, std::int64_t exponent)
{
    if (exponent < 0) {
        if (base == 0)
            throw TemplateError("0.0 cannot be raised to a negative power");
        return Value::real(std::pow(double(base), double(exponent)));
    }
    std::int64_t result = 1;
    for (; exponent > 0; exponent >>= 1) {
        if (exponent & 1)
            result = multiply(result, base);
        if (exponent > 1)
            base = multiply(base, base);
    }
    return Value::integer(result);
}

static Value integer_arithmetic(Operator op, std::int64_t a, std::int64_t b)
{
    std::int64_t result = 0;
    switch (op) {
    case Operator::Add:
        if (__builtin_add_overflow(a, b, &result))
            fail_overflow();
        return Value::integer(result);
    case Operator::Subtract:
        if (__builtin_sub_overflow(a, b, &result))
            fail_overflow();
        return Value::integer(result);
    case Operator::Multiply:
        return Value::integer(multiply(a, b));
    case Operator::Divide:
        if (b == 0)
            throw TemplateError("division by zero");
        return Value::real(double(a) / double(b));
    case Operator::FloorDivide:
        return Value::integer(floor_divide(a, b));
    case Operator::Modulo:
        return Value::integer(floor_modulo(a, b));
    default:
        return power(a, b);
    }
}

static double float_modulo(double a, double b)
{
    if (b == 0)
        throw TemplateError("float modulo");
    const double rest = std::fmod(a, b);
    if (rest != 0 && (rest < 0) != (b < 0))
        return rest + b;
    return rest == 0 ? std::copysign(0.0, b) : rest;
}

static Value float_arithmetic(Operator op, double a, double b)
{
    switch (op) {
    case Operator::Add:
        return Value::real(a + b);
    case Operator::Subtract:
        return Value::real(a - b);
    case Operator::Multiply:
        return Value::real(a * b);
    case Operator::Divide:
        if (b == 0)
            throw TemplateError("float division by zero");
        return Value::real(a / b);
    case Operator::FloorDivide:
        if (b == 0)
            throw TemplateError("float floor division by zero");
        return Value::real(std::round((a - float_modulo(a, b)) / b));  // a whole number but for rounding
    case Operator::Modulo:
        return Value::real(float_modulo(a, b));
    default:
        if (a == 0 && b < 0)
            throw TemplateError("0.0 cannot be raised to a negative power");
        if (a < 0 && b != std::floor(b))
            throw TemplateError("a negative number has no real power with a fraction");
        return Value::real(std::pow(a, b));
    }
}

// ---- text and lists ----

static Value concatenate(Heap& heap, const Value& a, const Value& b)
{
    if (a.is_string()) {
        if (!b.is_string())
            fail_type("can only concatenate str (not \"" + std::string(type_name(b)) + "\") to str");
        heap.budget.check_string(a.text().size() + b.text().size());
        TracedText text = a.traced();
        text.append(b.traced());
        return heap.string(std::move(text));
    }
    if (a.type() != b.type())
        fail_type("can only concatenate " + std::string(type_name(a)) + " (not \"" + std::string(type_name(b)) +
                  "\") to " + std::string(type_name(a)));
    const auto &x = a.as<List>().items, &y = b.as<List>().items;
    heap.budget.spend(std::int64_t(x.size() + y.size()) / 4);
    heap.budget.take((x.size() + y.size()) * sizeof(Value));  // counted before it is made
    heap.budget.give_back((x.size() + y.size()) * sizeof(Value));
    std::vector<Value> items;
    items.reserve(x.size() + y.size());
    items.insert(items.end(), x.begin(), x.end());
    items.insert(items.end(), y.begin(), y.end());
    return a.is(Type::List) ? heap.list(std::move(items)) : heap.tuple(std::move(items));
}

static Value repeat(Heap& heap, const Value& what, std::int64_t times)
{
    times = std::max<std::int64_t>(times, 0);
    if (what.is_string()) {
        heap.budget.check_repeated(what.text().size(), std::uint64_t(times));
        const TracedText& text = what.traced();
        if (text.runs().size() > 1) {
            const std::size_t bytes_of_runs = std::size_t(times) * text.runs().size_bytes();
            heap.budget.take(bytes_of_runs);  // counted before they are made
            heap.budget.give_back(bytes_of_runs);
        }
        return heap.string(text.repeated(times));
    }
    const auto& source = what.as<List>().items;
    std::vector<Value> items;
    if (!source.empty() && times > 0) {
        std::uint64_t bytes;
        if (__builtin_mul_overflow(std::uint64_t(source.size() * sizeof(Value)), std::uint64_t(times), &bytes))
            bytes = SIZE_MAX;
        heap.budget.take(std::size_t(bytes));
        heap.budget.give_back(std::size_t(bytes));
        heap.budget.spend(std::int64_t(bytes / sizeof(Value)) / 4);
        items.reserve(std::size_t(bytes) / sizeof(Value));
        for (std::int64_t i = 0; i < times; ++i)
            items.insert(items.end(), source.begin(), source.end());
    }
    return what.is(Type::List) ? heap.list(std::move(items)) : heap.tuple(std::move(items));
}

Value arithmetic(Heap& heap, Operator op, const Value& a, const Value& b)
{
    heap.budget.step();
    if (op == Operator::Modulo && a.is_string())
        return percent_format(heap, a, b);
    if (a.is_undefined())
        fail_undefined(a);
    if (a.is_integer() && b.is_integer())
        return integer_arithmetic(op, a.as_integer(), b.as_integer());
    if (a.is_number() && b.is_number())
        return float_arithmetic(op, a.as_real(), b.as_real());
    if (op == Operator::Add && (a.is_string() || a.is_sequence()) && !b.is_undefined())
        return concatenate(heap, a, b);
    if (op == Operator::Multiply && (a.is_string() || a.is_sequence()) && b.is_integer())
        return repeat(heap, a, b.as_integer());
    if (op == Operator::Multiply && (b.is_string() || b.is_sequence()) && a.is_integer())
        return repeat(heap, b, a.as_integer());
    if (b.is_undefined())
        fail_undefined(b);
    const auto repeats = [](const Value& value) { return value.is_string() || value.is_sequence(); };
    if (op == Operator::Multiply && (repeats(a) || repeats(b)))
        fail_type("can't multiply sequence by non-int of type '" + std::string(type_name(repeats(a) ? b : a)) + "'");
    fail_operands(op, a, b);
}

Value negate(Heap& heap, const Value& value)
{
    heap.budget.step();
    if (value.is_undefined())
        fail_undefined(value);
    if (value.is_integer())
        return Value::integer(multiply(value.as_integer(), -1));
    if (value.is(Type::Float))
        return Value::real(-value.as_real());
    fail_type("bad operand type for unary -: '" + std::string(type_name(value)) + "'");
}

// ---- slices ----

namespace {

struct SliceBounds {
    std::int64_t start, stop, step;
};

}  // namespace

static std::int64_t slice_index(const Value& part, std::int64_t otherwise)
{
    if (part.is_none())
        return otherwise;
    if (!part.is_integer())
        fail_type("slice indices must be integers or None or have an __index__ method");
    return part.as_integer();
}

static SliceBounds slice_bounds(std::int64_t length, const Value& start, const Value& stop, const Value& step)
{
    SliceBounds bounds{};
    bounds.step = slice_index(step, 1);
    if (bounds.step == 0)
        throw TemplateError("slice step cannot be zero");
    const bool forward = bounds.step > 0;
    const std::int64_t low = forward ? 0 : -1, high = forward ? length : length - 1;
    const auto place = [&](const Value& part, std::int64_t otherwise) {
        if (part.is_none())
            return otherwise;
        std::int64_t index = slice_index(part, 0);
        if (index < 0)
            index += length;
        return std::min(std::max(index, low), high);
    };
    bounds.start = place(start, forward ? low : high);
    bounds.stop = place(stop, forward ? high : low);
    return bounds;
}

static Value slice_text(Heap& heap, const Value& value, const SliceBounds& s)
{
    const std::string_view text = value.text();
    heap.budget.spend_on_text(text.size());
    if (s.step == 1) {
        if (s.start >= s.stop)
            return heap.string("");
        if (value.as<String>().is_ascii())
            return heap.part(value, text.substr(std::size_t(s.start), std::size_t(s.stop - s.start)));
        const std::size_t from = unicode::byte_of(text, s.start);
        const std::string_view rest = text.substr(from);
        return heap.part(value, rest.substr(0, unicode::byte_of(rest, s.stop - s.start)));
    }
    std::vector<std::size_t> starts;  // of each character
    heap.budget.spend_on_text(text.size() * 4);
    heap.budget.take(text.size() * sizeof(std::size_t));
    heap.budget.give_back(text.size() * sizeof(std::size_t));
    for (std::size_t at = 0; at < text.size(); unicode::next(text, at))
        starts.push_back(at);
    Output out(heap);
    for (std::int64_t i = s.start; s.step > 0 ? i < s.stop : i > s.stop;) {
        const std::size_t start = starts[std::size_t(i)];
        std::size_t at = start;
        unicode::next(text, at);
        out.add(value.traced(), text.substr(start, at - start));
        if (__builtin_add_overflow(i, s.step, &i))
            break;
    }
    return heap.string(out.take());
}

Value slice(Heap& heap, const Value& value, const Value& start, const Value& stop, const Value& step)
{
    if (value.is_undefined())
        fail_undefined(value);
    if (value.is(Type::Dict))
        fail_type("unhashable type: 'slice'");
    if (!value.is_string() && !value.is_sequence() && !value.is(Type::Range))
        fail_type("'" + std::string(type_name(value)) + "' object is not subscriptable");
    const SliceBounds s = slice_bounds(require_length(value), start, stop, step);
    if (value.is_string())
        return slice_text(heap, value, s);
    if (value.is(Type::Range)) {
        const auto& range = value.as<Range>();
        return heap.make<Range>(range.at(s.start), range.at(s.stop), multiply(range.step, s.step));
    }
    Value out = value.is(Type::List) ? heap.list() : heap.tuple();
    auto& items = out.as<List>();
    for (std::int64_t i = s.start; s.step > 0 ? i < s.stop : i > s.stop;) {
        heap.budget.step();
        items.push(value.as<List>().items[std::size_t(i)]);
        if (__builtin_add_overflow(i, s.step, &i))
            break;
    }
    return out;
}

}  // namespace engine::jinja
