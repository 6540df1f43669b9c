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
    const std::string separator = p.given(0) ? str_text(in.heap, p[0]) : std::string();
    Output out(in.heap);
    Iterator iterator(in.heap, input);
    bool first = true;
    for (Value item; iterator.next(item); first = false) {
        out.add(first ? std::string_view() : separator);
        out.add(str_text(in.heap, attribute_key(in, item, p[1])));
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
    if (input.is(Type::Generator) || input.is(Type::Loop))
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

static Value generator_over(Interpreter& in, std::string_view name, std::vector<Value> items)
{
    const Value list = in.heap.list(std::move(items));
    return in.heap.make<Generator>(name, [list, at = std::size_t(0)](Value& item) mutable {
        if (at >= list.as<List>().items.size())
            return false;
        item = list.as<List>().items[at++];
        return true;
    });
}

static Value reverse(Interpreter& in, const Value& input, Arguments& arguments)
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
    return generator_over(in, "reversed", reversed_items(in, input));
}

static Value items(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("items", arguments, {});
    if (input.is_undefined())
        return generator_over(in, "do_items", {});
    if (!input.is(Type::Dict))
        fail_type("Can only get item pairs from a mapping.");
    return generator_over(in, "do_items", collect(in.heap, in.heap.make<DictView>(input, DictView::Part::Items)));
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

static Value batch(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("batch", arguments, {"linecount", "fill_with"}, 1);
    const std::int64_t size = p.integer(0, 1);
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
        while (!p.is_none(1) && row_size() < size) {
            in.heap.budget.step();
            row.as<List>().push(p[1]);
        }
        batches.push_back(row);
    }
    return generator_over(in, "do_batch", std::move(batches));
}

static Value slice_into(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("slice", arguments, {"slices", "fill_with"}, 1);
    const std::int64_t count = p.integer(0, 1);
    if (count == 0)
        throw TemplateError("integer division or modulo by zero");
    const std::vector<Value> all = collect(in.heap, input);
    const auto length = std::int64_t(all.size());
    Value slices = in.heap.list();
    std::int64_t at = 0;
    for (std::int64_t i = 0; i < count; ++i) {
        in.heap.budget.step();
        const std::int64_t size = length / count + (i < length % count ? 1 : 0);
        Value part = in.heap.list({all.begin() + at, all.begin() + at + size});
        if (!p.is_none(1) && i >= length % count)
            part.as<List>().push(p[1]);
        slices.as<List>().push(std::move(part));
        at += size;
    }
    return generator_over(in, "sync_do_slice", collect(in.heap, slices));
}

static Value attr(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("attr", arguments, {"name"}, 1);
    const std::string name = str_text(in.heap, p[0]);
    if (input.is(Type::Dict) && !find_method(input, name))  // unlike a dot, it does not look among the keys
        return in.heap.undefined("'dict object' has no attribute " + quote(name));
    return in.get_attribute(input, name);
}

FilterBody find_list_filter(std::string_view name)
{
    static constexpr std::pair<std::string_view, FilterBody> kFilters[] = {
        {"length", length},     {"count", length},     {"default", default_value},
        {"d", default_value},   {"join", join},        {"first", first},
        {"last", last},         {"list", list},        {"items", items},
        {"dictsort", dictsort}, {"reverse", reverse},  {"sum", sum},
        {"batch", batch},       {"slice", slice_into}, {"attr", attr},
    };
    for (const auto& [known, body] : kFilters)
        if (known == name)
            return body;
    return nullptr;
}

}  // namespace engine::jinja
