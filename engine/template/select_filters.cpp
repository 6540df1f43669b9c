// Filters that look at each item: map, select, sort, groupby and their like.
#include "engine/template/filters.h"
#include "engine/template/interpreter.h"
#include "engine/template/operators.h"
#include "engine/template/ordering.h"
#include "engine/template/parameters.h"
#include "engine/template/text_of.h"
#include "engine/template/text_pieces.h"
#include "engine/template/value_tests.h"

#include <algorithm>
#include <memory>

namespace engine::jinja {

namespace {

/// Returns the arguments with which each item's filter or test is called.
Arguments copy_of(Heap& heap, const Arguments& arguments)
{
    heap.budget.spend(std::int64_t(arguments.positional.size() + arguments.named.size()));
    for (const auto& [name, value] : arguments.named)
        heap.budget.spend(std::int64_t(name.size() / 32));
    return arguments;
}

/// Opens the source of a lazy filter when the first item is wanted, as Jinja's generators do.
class LazySource
{
public:
    LazySource(Heap& heap, Value source, bool falsy_is_empty = true)
        : heap_(heap)
        , source_(std::move(source))
        , falsy_is_empty_(falsy_is_empty)
    {
    }

    bool next(Value& item)
    {
        if (!iterator_) {
            if (falsy_is_empty_ && !truth(source_))
                return false;  // also none and undefined
            iterator_ = std::make_unique<Iterator>(heap_, source_);
        }
        return iterator_->next(item);
    }

private:
    Heap& heap_;
    Value source_;
    bool falsy_is_empty_;
    std::unique_ptr<Iterator> iterator_;
};

}  // namespace

// ---- map ----

static Value map_attribute(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("map", arguments, {"attribute", "default"});
    auto source = std::make_shared<LazySource>(in.heap, input);
    return in.heap.make<Generator>("sync_do_map", [&in, source, attribute = p[0], otherwise = p[1]](Value& item) {
        if (!source->next(item))
            return false;
        item = attribute_key(in, item, attribute, true, otherwise);
        return true;
    });
}

static Value map(Interpreter& in, const Value& input, Arguments& arguments)
{
    const auto is_attribute = [](const auto& argument) { return argument.first == "attribute"; };
    if (arguments.positional.empty() && std::any_of(arguments.named.begin(), arguments.named.end(), is_attribute))
        return map_attribute(in, input, arguments);
    if (arguments.positional.empty())
        throw TemplateError("map requires a filter argument");
    const std::string name = str_text(in.heap, arguments.positional[0]);
    Arguments rest = arguments;
    rest.positional.erase(rest.positional.begin());
    auto source = std::make_shared<LazySource>(in.heap, input);
    return in.heap.make<Generator>("sync_do_map", [&in, source, name, rest](Value& item) {
        if (!source->next(item))
            return false;
        Arguments own = copy_of(in.heap, rest);
        item = apply_filter(in, name, Value(item), own);
        return true;
    });
}

// ---- select and reject ----

static Value selected(Interpreter& in, const Value& input, Arguments& arguments, bool by_attribute, bool wanted)
{
    Arguments rest = arguments;
    const auto take_first = [&] {
        Value value = rest.positional.front();
        rest.positional.erase(rest.positional.begin());
        return value;
    };
    Value attribute;
    if (by_attribute) {
        if (rest.positional.empty())
            throw TemplateError("Missing parameter for attribute name");
        attribute = take_first();
    }
    const std::string test = rest.positional.empty() ? std::string() : str_text(in.heap, take_first());
    auto source = std::make_shared<LazySource>(in.heap, input);
    return in.heap.make<Generator>("select_or_reject", [&in, source, attribute, test, rest, wanted](Value& item) {
        while (source->next(item)) {
            const Value looked_at = attribute_key(in, item, attribute);
            Arguments own = copy_of(in.heap, rest);
            if ((test.empty() ? truth(looked_at) : passes_test(in, test, looked_at, own)) == wanted)
                return true;
        }
        return false;
    });
}

static Value select(Interpreter& in, const Value& input, Arguments& arguments)
{
    return selected(in, input, arguments, false, true);
}
static Value reject(Interpreter& in, const Value& input, Arguments& arguments)
{
    return selected(in, input, arguments, false, false);
}
static Value selectattr(Interpreter& in, const Value& input, Arguments& arguments)
{
    return selected(in, input, arguments, true, true);
}
static Value rejectattr(Interpreter& in, const Value& input, Arguments& arguments)
{
    return selected(in, input, arguments, true, false);
}

// ---- order ----

// "age,name" sorts by several attributes.
static Value sort_key(Interpreter& in, const Value& item, const Value& attribute, bool case_sensitive)
{
    if (!attribute.is_string() || attribute.text().find(',') == std::string::npos)
        return attribute_key(in, item, attribute, case_sensitive);
    Value keys = in.heap.list();
    for (const std::string_view part : split_text(in.heap, attribute.text(), ",", -1))
        keys.as<List>().push(attribute_key(in, item, in.heap.string(part), case_sensitive));
    return keys;
}

static Value sort(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("sort", arguments, {"reverse", "case_sensitive", "attribute"});
    std::vector<Value> items = collect(in.heap, input);
    const Value keys = in.heap.list();
    for (const Value& item : items)
        keys.as<List>().push(sort_key(in, item, p[2], p.flag(1)));
    sort_values(in.heap, items, keys.as<List>().items, p.flag(0));
    return in.heap.list(std::move(items));
}

static Value unique(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("unique", arguments, {"case_sensitive", "attribute"});
    const Value seen = in.heap.dict();
    auto source = std::make_shared<LazySource>(in.heap, input, false);
    const bool case_sensitive = p.flag(0);
    return in.heap.make<Generator>("sync_do_unique",
                                   [&in, source, seen, case_sensitive, attribute = p[1]](Value& item) {
                                       while (source->next(item)) {
                                           const Value key = attribute_key(in, item, attribute, case_sensitive);
                                           if (seen.as<Dict>().find(key))
                                               continue;
                                           seen.as<Dict>().set(key, Value::none());
                                           return true;
                                       }
                                       return false;
                                   });
}

static Value extreme(Interpreter& in, const Value& input, Arguments& arguments, bool smallest)
{
    const Parameters p(smallest ? "min" : "max", arguments, {"case_sensitive", "attribute"});
    Iterator iterator(in.heap, input);
    Value best, best_key;
    for (Value item; iterator.next(item);) {
        const Value key = attribute_key(in, item, p[1], p.flag(0));
        if (best.is_missing() || (smallest ? less(in.heap, key, best_key) : less(in.heap, best_key, key, ">"))) {
            best = item;
            best_key = key;
        }
    }
    return best.is_missing() ? in.heap.undefined("No aggregated item, sequence was empty.") : best;
}

static Value min(Interpreter& in, const Value& input, Arguments& arguments)
{
    return extreme(in, input, arguments, true);
}
static Value max(Interpreter& in, const Value& input, Arguments& arguments)
{
    return extreme(in, input, arguments, false);
}

static Value groupby(Interpreter& in, const Value& input, Arguments& arguments)
{
    const Parameters p("groupby", arguments, {"attribute", "default", "case_sensitive"}, 1);
    std::vector<Value> items = collect(in.heap, input);
    const Value keys = in.heap.list();
    for (const Value& item : items)
        keys.as<List>().push(attribute_key(in, item, p[0], p.flag(2), p[1]));
    std::vector<Value> sorted_keys = keys.as<List>().items;
    sort_values(in.heap, items, keys.as<List>().items, false);
    sort_values(in.heap, sorted_keys, keys.as<List>().items, false);
    Value groups = in.heap.list();
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i == 0 || !equal(in.heap, sorted_keys[i], sorted_keys[i - 1])) {
            // The group has its first item's own key, not the lower case that it was sorted by.
            Value group = in.heap.tuple({attribute_key(in, items[i], p[0], true, p[1]), in.heap.list()});
            group.as<List>().is_group = true;
            groups.as<List>().push(std::move(group));
        }
        groups.as<List>().items.back().as<List>().items[1].as<List>().push(items[i]);
    }
    return groups;
}

FilterBody find_select_filter(std::string_view name)
{
    static constexpr std::pair<std::string_view, FilterBody> kFilters[] = {
        {"map", map},
        {"select", select},
        {"reject", reject},
        {"selectattr", selectattr},
        {"rejectattr", rejectattr},
        {"sort", sort},
        {"unique", unique},
        {"min", min},
        {"max", max},
        {"groupby", groupby},
    };
    for (const auto& [known, body] : kFilters)
        if (known == name)
            return body;
    return nullptr;
}

}  // namespace engine::jinja
