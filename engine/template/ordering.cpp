// Sorting by keys.
#include "engine/template/ordering.h"

#include "engine/template/attributes.h"
#include "engine/template/conversion.h"
#include "engine/template/interpreter.h"
#include "engine/template/operators.h"
#include "engine/template/text_pieces.h"
#include "engine/template/unicode.h"

#include <algorithm>
#include <charconv>
#include <numeric>

namespace engine::jinja {

void sort_values(Heap& heap, std::vector<Value>& items, const std::vector<Value>& keys, bool reverse)
{
    heap.budget.take(items.size() * (sizeof(std::size_t) + sizeof(Value)));  // for as long as sorting lasts
    heap.budget.give_back(items.size() * (sizeof(std::size_t) + sizeof(Value)));
    std::vector<std::size_t> order(items.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return reverse ? less(heap, keys[b], keys[a]) : less(heap, keys[a], keys[b]);
    });
    std::vector<Value> sorted;
    sorted.reserve(items.size());
    for (const std::size_t i : order)
        sorted.push_back(items[i]);
    items = std::move(sorted);
}

// Returns a part of a path: "0" is an index, "name" is a key.
static Value path_part(Heap& heap, std::string_view part)
{
    const bool is_index = !part.empty() && part.size() < 18 &&
                          std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!is_index)
        return heap.string(part);
    std::int64_t index = 0;
    std::from_chars(part.data(), part.data() + part.size(), index);
    return Value::integer(index);
}

Value attribute_key(Interpreter& in, Value item, const Value& attribute, bool case_sensitive, const Value& otherwise)
{
    const auto follow = [&](const Value& part) {
        item = get_item(in.heap, item, part);
        if (item.is_undefined() && !otherwise.is_missing() && !otherwise.is_none())
            item = otherwise;
    };
    if (attribute.is_string()) {
        for (const std::string_view part : split_text(in.heap, attribute.text(), ".", -1))
            follow(path_part(in.heap, part));
    } else if (!attribute.is_missing() && !attribute.is_none()) {
        follow(attribute);
    }
    if (!case_sensitive && item.is_string()) {
        return in.heap.string(converted(in.heap, item.traced(), unicode::lower));
    }
    return item;
}

}  // namespace engine::jinja
