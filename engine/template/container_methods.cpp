// Methods of lists, tuples and dictionaries.
#include "engine/template/attributes.h"
#include "engine/template/interpreter.h"
#include "engine/template/operators.h"
#include "engine/template/ordering.h"
#include "engine/template/parameters.h"
#include "engine/template/text_of.h"

#include <algorithm>

namespace engine::jinja {

// ---- lists ----

static std::vector<Value>& items_of(const Value& self)
{
    return self.as<List>().items;
}

static Value append(Interpreter&, const Value& self, Arguments& arguments)
{
    const Parameters p("append", arguments, {"object"}, 1);
    self.as<List>().push(p[0]);
    return Value::none();
}

static Value extend(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("extend", arguments, {"iterable"}, 1);
    for (Value& item : collect(in.heap, p[0]))  // collected before, since it may be the list itself
        self.as<List>().push(std::move(item));
    return Value::none();
}

static Value insert(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("insert", arguments, {"index", "object"}, 2);
    auto& items = items_of(self);
    const auto size = std::int64_t(items.size());
    std::int64_t at = p.integer(0, 0);
    at = std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size);
    in.heap.budget.spend((size - at) / 8);
    items.insert(items.begin() + at, p[1]);
    self.as<List>().recount();
    return Value::none();
}

static Value pop(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("pop", arguments, {"index"});
    auto& items = items_of(self);
    const auto size = std::int64_t(items.size());
    if (size == 0)
        throw TemplateError("pop from empty list");
    std::int64_t at = p.integer(0, -1);
    if (at < 0)
        at += size;
    if (at < 0 || at >= size)
        throw TemplateError("pop index out of range");
    in.heap.budget.spend((size - at) / 8);
    Value item = std::move(items[std::size_t(at)]);
    items.erase(items.begin() + at);
    return item;
}

static std::int64_t position(Interpreter& in, const Value& self, const Value& wanted)
{
    const auto& items = items_of(self);
    for (std::size_t i = 0; i < items.size(); ++i)
        if (items[i].same_as(wanted) || equal(in.heap, items[i], wanted))
            return std::int64_t(i);
    return -1;
}

static Value remove(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("remove", arguments, {"value"}, 1);
    const std::int64_t at = position(in, self, p[0]);
    if (at < 0)
        throw TemplateError("list.remove(x): x not in list");
    in.heap.budget.spend((std::int64_t(items_of(self).size()) - at) / 8);
    const Value keep = items_of(self)[std::size_t(at)];
    items_of(self).erase(items_of(self).begin() + at);
    return Value::none();
}

static Value index(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("index", arguments, {"value"}, 1);
    const std::int64_t at = position(in, self, p[0]);
    if (at < 0)
        throw TemplateError(repr(in.heap, p[0]) + " is not in list");
    return Value::integer(at);
}

static Value count(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("count", arguments, {"value"}, 1);
    std::int64_t times = 0;
    in.heap.budget.spend(std::int64_t(items_of(self).size()) / 8);
    for (const Value& item : items_of(self))
        times += item.same_as(p[0]) || equal(in.heap, item, p[0]) ? 1 : 0;
    return Value::integer(times);
}

static Value reverse(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("reverse", arguments, {});
    in.heap.budget.spend(std::int64_t(items_of(self).size()) / 8);
    std::reverse(items_of(self).begin(), items_of(self).end());
    return Value::none();
}

static Value sort(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("sort", arguments, {"key", "reverse"});
    if (!p.is_none(0))
        throw TemplateError("list.sort() takes no key here; use the sort filter");
    std::vector<Value> items = items_of(self);  // sorted in a copy: an error in a comparison must leave the list whole
    sort_values(in.heap, items, items, p.flag(1));
    items_of(self) = std::move(items);
    return Value::none();
}

static Value copy_list(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("copy", arguments, {});
    return in.heap.list(collect(in.heap, self));
}

static Value clear_list(Interpreter&, const Value& self, Arguments& arguments)
{
    const Parameters p("clear", arguments, {});
    items_of(self).clear();
    return Value::none();
}

// ---- dictionaries ----

static Value get(Interpreter&, const Value& self, Arguments& arguments)
{
    const Parameters p("get", arguments, {"key", "default"}, 1);
    const Value* found = self.as<Dict>().find(p[0]);
    return found ? *found : p.given(1) ? p[1] : Value::none();
}

template <DictView::Part part>
static Value view(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("dict view", arguments, {});
    return in.heap.make<DictView>(self, part);
}

static Value pop_key(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("pop", arguments, {"key", "default"}, 1);
    Value value = self.as<Dict>().take(p[0]);
    if (!value.is_missing())
        return value;
    if (!p.given(1))
        throw TemplateError(repr(in.heap, p[0]));
    return p[1];
}

static Value popitem(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("popitem", arguments, {});
    auto& dict = self.as<Dict>();
    if (dict.size() == 0)
        throw TemplateError("'popitem(): dictionary is empty'");
    const Value key = dict.entries().back().key;
    return in.heap.tuple({key, dict.take(key)});
}

static Value setdefault(Interpreter&, const Value& self, Arguments& arguments)
{
    const Parameters p("setdefault", arguments, {"key", "default"}, 1);
    if (const Value* found = self.as<Dict>().find(p[0]))
        return *found;
    Value value = p.given(1) ? p[1] : Value::none();
    self.as<Dict>().set(p[0], value);
    return value;
}

static Value update(Interpreter& in, const Value& self, Arguments& arguments)
{
    auto& dict = self.as<Dict>();
    for (const Value& source : arguments.positional) {
        if (source.is(Type::Dict)) {
            const std::vector<Dict::Entry> entries = source.as<Dict>().entries();  // may be the same dictionary
            in.heap.budget.spend(std::int64_t(entries.size()));
            for (const Dict::Entry& entry : entries)
                dict.set(entry.key, entry.value);
            continue;
        }
        for (const Value& pair : collect(in.heap, source)) {
            const std::vector<Value> halves = collect(in.heap, pair);
            if (halves.size() != 2)
                throw TemplateError("dictionary update sequence element has length " + std::to_string(halves.size()) +
                                    "; 2 is required");
            dict.set(halves[0], halves[1]);
        }
    }
    for (const auto& [key, value] : arguments.named)
        dict.set(in.heap.string(key), value);
    return Value::none();
}

static Value copy_dict(Interpreter& in, const Value& self, Arguments& arguments)
{
    const Parameters p("copy", arguments, {});
    Value copy = in.heap.dict();
    for (const Dict::Entry& entry : self.as<Dict>().entries())
        copy.as<Dict>().set(entry.key, entry.value);
    return copy;
}

static Value clear_dict(Interpreter&, const Value& self, Arguments& arguments)
{
    const Parameters p("clear", arguments, {});
    self.as<Dict>().clear();
    return Value::none();
}

const Method* find_list_method(std::string_view name)
{
    static constexpr Method kMethods[] = {
        {"append", append}, {"extend", extend},  {"insert", insert},    {"pop", pop},
        {"remove", remove}, {"index", index},    {"count", count},      {"reverse", reverse},
        {"sort", sort},     {"copy", copy_list}, {"clear", clear_list},
    };
    return find_in(kMethods, name);
}

const Method* find_tuple_method(std::string_view name)
{
    static constexpr Method kMethods[] = {{"index", index}, {"count", count}};
    return find_in(kMethods, name);
}

const Method* find_dict_method(std::string_view name)
{
    static constexpr Method kMethods[] = {
        {"get", get},
        {"items", view<DictView::Part::Items>},
        {"keys", view<DictView::Part::Keys>},
        {"values", view<DictView::Part::Values>},
        {"pop", pop_key},
        {"popitem", popitem},
        {"setdefault", setdefault},
        {"update", update},
        {"copy", copy_dict},
        {"clear", clear_dict},
    };
    return find_in(kMethods, name);
}

}  // namespace engine::jinja
