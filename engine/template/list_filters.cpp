// Filters on sequences as a whole.
#include "engine/template/attributes.h"
#include "engine/template/filters.h"
#include "engine/template/interpreter.h"
#include "engine/template/operators.h"
#include "engine/template/ordering.h"
#include "engine/template/parameters.h"
#include "engine/template/text_of.h"
#include "engine/template/unicode.h"

#include <algorithm>

namespace engine::jinja {

static Value length(Interpreter&, const Value& input, Arguments& arguments)
{
    const Parameters p("length", arguments, {});
    return Value::integer(require_length(input));
}

static Value default_value(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("default", arguments, {"default_value", "boolean"});
    if (!input.is_undefined() && !(p.flag(1) && !truth(input)))
        return input;
    return p.given(0) ? p[0] : in.heap.string("");
}

static Value join(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("join", arguments, {"d", "attribute"});
    const TracedText separator = p.given(0) ? traced_text(in.heap, p[0]) : TracedText();
    Output out(in.heap);
    Iterator iterator(in.heap, input);
    bool first = true;
    for (Value item; iterator.next(item); first = false) {
        if (!first)
            out.add(separator);
        out.add(traced_text(in.heap, attribute_key(in, item, p[1])));
    }
    return in.heap.string(out.take());
}

static Value first(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("first", arguments, {});
    Value item;
    return Iterator(in.heap, input).next(item) ? item : in.heap.undefined("No first item, sequence was empty.");
}

static std::vector<Value> reversed_items(Interpreter& in, const Value& input)
{
    if (input.is(Type::Generator) || input.is(Type::Loop) || !is_iterable(input))
        fail_type("'" + std::string(type_name(input)) + "' object is not reversible");
    std::vector<Value> items = collect(in.heap, input);
    std::reverse(items.begin(), items.end());
    return items;
}

static Value last(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("last", arguments, {});
    if (input.is_sequence() && !input.as<List>().items.empty())
        return input.as<List>().items.back();
    const std::vector<Value> items = reversed_items(in, input);
    return items.empty() ? in.heap.undefined("No last item, sequence was empty.") : items.front();
}

static Value list(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("list", arguments, {});
    return in.heap.list(collect(in.heap, input));
}

// Returns a generator whose items are made when the first one is wanted; so are their errors.
template <class Make>
static Value lazily(Interpreter& in, std::string_view name, Make make)
{
    return in.heap.make<Generator>(name, [&in, make, made = Value(), at = std::size_t(0)](Value& item) mutable {
        if (made.is_missing())
            made = in.heap.list(make());
        const auto& items = made.as<List>().items;
        if (at >= items.size())
            return false;
        item = items[at++];
        return true;
    });
}

static Value reversed(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("reverse", arguments, {});
    if (input.is_string())
        return slice(in.heap, input, Value::none(), Value::none(), Value::integer(-1));
    if (!is_iterable(input))
        throw TemplateError("argument must be iterable");
    if (input.is(Type::Generator) || input.is(Type::Loop)) {
        std::vector<Value> items = collect(in.heap, input);
        std::reverse(items.begin(), items.end());
        return in.heap.list(std::move(items));
    }
    return lazily(in, "reversed", [items = reversed_items(in, input)] { return items; });
}

static Value items(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("items", arguments, {});
    return lazily(in, "do_items", [&in, input]() -> std::vector<Value> {
        if (input.is_undefined())
            return {};
        if (!input.is(Type::Dict))
            fail_type("Can only get item pairs from a mapping.");
        return collect(in.heap, in.heap.make<DictView>(input, DictView::Part::Items));
    });
}

static Value dictsort(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("dictsort", arguments, {"case_sensitive", "by", "reverse"});
    const std::string by = p.given(1) ? p.text(1) : "key";
    if (by != "key" && by != "value")
        throw TemplateError("You can only sort by either \"key\" or \"value\"");
    if (input.is_undefined())
        fail_undefined(input);
    if (!input.is(Type::Dict))
        fail_type("'" + std::string(type_name(input)) + "' object has no attribute 'items'");
    std::vector<Value> pairs, keys;
    for (const Dict::Entry& entry : input.as<Dict>().entries()) {
        pairs.push_back(in.heap.tuple({entry.key, entry.value}));
        keys.push_back(attribute_key(in, by == "key" ? entry.key : entry.value, Value(), p.flag(0)));
    }
    sort_values(in.heap, pairs, keys, p.flag(2));
    return in.heap.list(std::move(pairs));
}

static Value sum(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("sum", arguments, {"attribute", "start"});
    Value total = p.given(1) ? p[1] : Value::integer(0);
    if (total.is_string())
        fail_type("sum() can't sum strings [use ''.join(seq) instead]");
    Iterator iterator(in.heap, input);
    for (Value item; iterator.next(item);)
        total = arithmetic(in.heap, Operator::Add, total, attribute_key(in, item, p[0]));
    return total;
}

static std::vector<Value> batches_of(Interpreter& in, const Value& input, std::int64_t size, const Value& fill)
{
    std::vector<Value> batches;
    Value row = in.heap.list();
    const auto row_size = [&] { return std::int64_t(row.as<List>().items.size()); };
    Iterator iterator(in.heap, input);
    for (Value item; iterator.next(item);) {
        if (row_size() == size)
            batches.push_back(std::exchange(row, in.heap.list()));
        row.as<List>().push(item);
    }
    if (row_size() > 0) {
        while (!fill.is_missing() && !fill.is_none() && row_size() < size) {
            in.heap.budget.step();
            row.as<List>().push(fill);
        }
        batches.push_back(row);
    }
    return batches;
}

static Value batch(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("batch", arguments, {"linecount", "fill_with"}, 1);
    return lazily(in, "do_batch",
                  [&in, input, size = p.integer(0, 1), fill = p[1]] { return batches_of(in, input, size, fill); });
}

static std::vector<Value> slices_of(Interpreter& in, const Value& input, std::int64_t count, const Value& fill)
{
    const std::vector<Value> all = collect(in.heap, input);
    if (count == 0)
        throw TemplateError("integer division or modulo by zero");
    const auto length = std::int64_t(all.size());
    const Value slices = in.heap.list();
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        in.heap.budget.step();
        const std::int64_t size = length / count + (i < length % count ? 1 : 0);
        Value part = in.heap.list({all.begin() + at, all.begin() + at + size});
        if (!fill.is_missing() && !fill.is_none() && i >= length % count)
            part.as<List>().push(fill);
        slices.as<List>().push(std::move(part));
        at += size;
    }
    return std::move(slices.as<List>().items);
}

static Value slice_into(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("slice", arguments, {"slices", "fill_with"}, 1);
    return lazily(in, "sync_do_slice",
                  [&in, input, count = p.integer(0, 1), fill = p[1]] { return slices_of(in, input, count, fill); });
}

static Value attr(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("attr", arguments, {"name"}, 1);
    const std::string name = str_text(in.heap, p[0]);
    if (input.is(Type::Dict) && !find_method(input, name))  // unlike a dot, this filter does not look among the keys
        return in.heap.undefined("'dict object' has no attribute " + quote(name));
    return get_attribute(in.heap, input, name);
}

FilterBody find_list_filter(std::string_view name)
{
    static constexpr std::pair<std::string_view, FilterBody> kFilters[] = {
        {"length", length},     {"count", length},     {"default", default_value},
        {"d", default_value},   {"join", join},        {"first", first},
        {"last", last},         {"list", list},        {"items", items},
        {"dictsort", dictsort}, {"reverse", reversed}, {"sum", sum},
        {"batch", batch},       {"slice", slice_into}, {"attr", attr},
    };
    for (const auto& [known, body] : kFilters)
        if (known == name)
            return body;
    return nullptr;
}

}  // namespace engine::jinja
