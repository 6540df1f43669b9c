// Truth, length, equality, order, hashing and containment, as Python defines them.
#include "engine/template/operators.h"

#include "engine/template/iterate.h"
#include "engine/template/loop.h"
#include "engine/template/text_pieces.h"

#include <cmath>
#include <functional>

namespace engine::jinja {

void fail_type(std::string sentence)
{
    throw TemplateError(std::move(sentence));
}

void fail_undefined(const Value& value)
{
    throw TemplateError(value.as<Undefined>().reason);
}

std::string_view type_name(const Value& value)
{
    switch (value.type()) {
    case Type::None:
        return "NoneType";
    case Type::Bool:
        return "bool";
    case Type::Int:
        return "int";
    case Type::Float:
        return "float";
    case Type::Undefined:
        return "Undefined";
    case Type::String:
        return "str";
    case Type::List:
        return "list";
    case Type::Tuple:
        return value.as<List>().is_group ? "_GroupTuple" : "tuple";
    case Type::Dict:
        return "dict";
    case Type::DictView: {
        const auto part = value.as<DictView>().part;
        return part == DictView::Part::Keys     ? "dict_keys"
               : part == DictView::Part::Values ? "dict_values"
                                                : "dict_items";
    }
    case Type::Range:
        return "range";
    case Type::Generator:
        return "generator";
    case Type::Namespace:
        return "Namespace";
    case Type::Function:
        return "builtin_function_or_method";
    case Type::Macro:
        return "Macro";
    case Type::Loop:
        return "LoopContext";
    case Type::Cycler:
        return "Cycler";
    case Type::Joiner:
        return "Joiner";
    case Type::Missing:
    case Type::Scope:
        break;
    }
    return "object";
}

std::optional<std::int64_t> length_of(const Value& value)
{
    switch (value.type()) {
    case Type::Undefined:
        return 0;
    case Type::String:
        return value.as<String>().length();
    case Type::List:
    case Type::Tuple:
        return std::int64_t(value.as<List>().items.size());
    case Type::Dict:
        return std::int64_t(value.as<Dict>().size());
    case Type::DictView:
        return std::int64_t(value.as<DictView>().dict.as<Dict>().size());
    case Type::Range:
        return value.as<Range>().length;
    case Type::Loop:
        return value.as<Loop>().length();
    default:
        return std::nullopt;
    }
}

std::int64_t require_length(const Value& value)
{
    const auto length = length_of(value);
    if (!length)
        fail_type("object of type '" + std::string(type_name(value)) + "' has no len()");
    return *length;
}

bool truth(const Value& value)
{
    switch (value.type()) {
    case Type::Missing:
    case Type::None:
    case Type::Undefined:
        return false;
    case Type::Bool:
    case Type::Int:
        return value.as_integer() != 0;
    case Type::Float:
        return value.as_real() != 0;
    case Type::String:
        return !value.text().empty();
    default:
        return length_of(value).value_or(1) != 0;  // a generator is true even when it has nothing to give
    }
}

// ---- equality ----

static bool equal_items(Heap& heap, const List& a, const List& b)
{
    if (a.items.size() != b.items.size())
        return false;
    for (std::size_t i = 0; i < a.items.size(); ++i)
        if (!equal(heap, a.items[i], b.items[i]))
            return false;
    return true;
}

static bool equal_dicts(Heap& heap, Dict& a, Dict& b)
{
    if (a.size() != b.size())
        return false;
    for (const Dict::Entry& entry : a.entries()) {
        const Value* other = b.find(entry.key);
        if (!other || !equal(heap, entry.value, *other))
            return false;
    }
    return true;
}

static bool equal_numbers(const Value& a, const Value& b)
{
    if (a.is_integer() && b.is_integer())
        return a.as_integer() == b.as_integer();
    return a.as_real() == b.as_real();
}

bool equal(Heap& heap, const Value& a, const Value& b)
{
    heap.budget.step();
    if (a.is_number() && b.is_number())
        return equal_numbers(a, b);
    if (a.type() != b.type())
        return false;
    if (a.is_undefined() || a.same_as(b))
        return true;
    Level level(heap.budget);
    switch (a.type()) {
    case Type::String:
        if (a.text().size() != b.text().size())
            return false;
        heap.budget.spend_on_text(a.text().size());
        return a.text() == b.text();
    case Type::List:
    case Type::Tuple:
        return equal_items(heap, a.as<List>(), b.as<List>());
    case Type::Dict:
        return equal_dicts(heap, a.as<Dict>(), b.as<Dict>());
    case Type::Range: {
        const auto &x = a.as<Range>(), &y = b.as<Range>();
        return x.length == y.length && (x.length == 0 || (x.start == y.start && (x.length == 1 || x.step == y.step)));
    }
    default:
        return false;
    }
}

// ---- order ----

bool less(Heap& heap, const Value& a, const Value& b, std::string_view symbol)
{
    heap.budget.step();
    if (a.is_undefined())
        fail_undefined(a);
    if (b.is_undefined())
        fail_undefined(b);
    if (a.is_integer() && b.is_integer())
        return a.as_integer() < b.as_integer();
    if (a.is_number() && b.is_number())
        return a.as_real() < b.as_real();
    if (a.is_string() && b.is_string()) {
        heap.budget.spend_on_text(std::min(a.text().size(), b.text().size()));
        return a.text() < b.text();  // UTF-8 sorts by code point
    }
    if (a.is_sequence() && a.type() == b.type()) {
        Level level(heap.budget);
        const auto &x = a.as<List>().items, &y = b.as<List>().items;
        for (std::size_t i = 0; i < x.size() && i < y.size(); ++i)
            if (!equal(heap, x[i], y[i]))
                return less(heap, x[i], y[i], symbol);
        return x.size() < y.size();
    }
    const bool is_turned = symbol == ">" || symbol == "<=";  // the caller has exchanged the two sides
    const Value &left = is_turned ? b : a, &right = is_turned ? a : b;
    fail_type("'" + std::string(symbol) + "' not supported between instances of '" + std::string(type_name(left)) +
              "' and '" + std::string(type_name(right)) + "'");
}

static bool either_is_nan(const Value& a, const Value& b)
{
    return (a.is(Type::Float) && std::isnan(a.as_real())) || (b.is(Type::Float) && std::isnan(b.as_real()));
}

bool compare(Heap& heap, Operator op, const Value& a, const Value& b)
{
    switch (op) {
    case Operator::Equal:
        return equal(heap, a, b);
    case Operator::NotEqual:
        return !equal(heap, a, b);
    case Operator::Less:
        return less(heap, a, b, "<");
    case Operator::Greater:
        return less(heap, b, a, ">");
    case Operator::LessEqual:
        return !less(heap, b, a, "<=") && !either_is_nan(a, b);
    case Operator::GreaterEqual:
        return !less(heap, a, b, ">=") && !either_is_nan(a, b);
    case Operator::In:
        return contains(heap, b, a);
    case Operator::NotIn:
        return !contains(heap, b, a);
    default:
        throw TemplateError("not a comparison");
    }
}

// ---- containment ----

bool contains(Heap& heap, const Value& container, const Value& item)
{
    switch (container.type()) {
    case Type::String:
        if (item.is_undefined() || !item.is_string())
            fail_type("'in <string>' requires string as left operand, not " + std::string(type_name(item)));
        return find_text(heap, container.text(), item.text()) != std::string_view::npos;
    case Type::Dict:
        return container.as<Dict>().find(item) != nullptr;
    case Type::DictView:
        if (container.as<DictView>().part == DictView::Part::Keys)
            return container.as<DictView>().dict.as<Dict>().find(item) != nullptr;
        break;
    case Type::Range: {
        const auto& range = container.as<Range>();
        if (!item.is_integer() || range.length == 0)
            return false;
        const std::int64_t value = item.as_integer(), last = range.at(range.length - 1);
        const bool inside =
            range.step > 0 ? value >= range.start && value <= last : value <= range.start && value >= last;
        return inside && (value - range.start) % range.step == 0;
    }
    default:
        if (!is_iterable(container))
            fail_type("argument of type '" + std::string(type_name(container)) + "' is not iterable");
    }
    Iterator iterator(heap, container);
    for (Value member; iterator.next(member);)
        if (member.same_as(item) || equal(heap, member, item))
            return true;
    return false;
}

// ---- hashing ----

std::size_t hash_of(std::string_view text)
{
    return std::hash<std::string_view>{}(text);
}

std::size_t hash_of(Heap& heap, const Value& value)
{
    switch (value.type()) {
    case Type::String:
        heap.budget.spend_on_text(value.text().size());
        return hash_of(value.text());
    case Type::Float: {
        const double f = value.as_real();
        if (f == std::floor(f) && std::abs(f) < 9e18)
            return std::hash<std::int64_t>{}(std::int64_t(f));  // 1.0 is the same key as 1
        return std::hash<double>{}(f);
    }
    case Type::Bool:
    case Type::Int:
        return std::hash<std::int64_t>{}(value.as_integer());
    case Type::None:
    case Type::Missing:
    case Type::Undefined:
        return std::size_t(value.type());
    case Type::Tuple: {
        Level level(heap.budget);
        std::size_t hash = 0x345678;
        for (const Value& item : value.as<List>().items) {
            heap.budget.step();
            hash = hash * 1000003 ^ hash_of(heap, item);
        }
        return hash;
    }
    case Type::List:
    case Type::Dict:
    case Type::DictView:
        fail_type("unhashable type: '" + std::string(type_name(value)) + "'");
    default:
        return std::hash<const void*>{}(value.object());
    }
}

}  // namespace engine::jinja
