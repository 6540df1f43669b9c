// Python's iteration protocol for template values.
#include "engine/template/iterate.h"

#include "engine/template/loop.h"
#include "engine/template/operators.h"
#include "engine/template/unicode.h"

namespace engine::jinja {

bool is_iterable(const Value& value)
{
    switch (value.type()) {
    case Type::Undefined:
    case Type::String:
    case Type::List:
    case Type::Tuple:
    case Type::Dict:
    case Type::DictView:
    case Type::Range:
    case Type::Generator:
    case Type::Loop:
        return true;
    default:
        return false;
    }
}

static const Dict* dict_behind(const Value& source)
{
    if (source.is(Type::Dict))
        return &source.as<Dict>();
    return source.is(Type::DictView) ? &source.as<DictView>().dict.as<Dict>() : nullptr;
}

Iterator::Iterator(Heap& heap, Value source)
    : heap_(heap)
    , source_(std::move(source))
{
    if (!is_iterable(source_))
        fail_type("'" + std::string(type_name(source_)) + "' object is not iterable");
    if (const Dict* dict = dict_behind(source_))
        first_size_ = dict->size();
}

bool Iterator::next(Value& item)
{
    heap_.budget.step();
    switch (source_.type()) {
    case Type::String:
        return next_character(item);
    case Type::List:
    case Type::Tuple: {
        const auto& items = source_.as<List>().items;
        if (position_ >= items.size())
            return false;
        item = items[position_++];
        return true;
    }
    case Type::Dict:
        return next_entry(source_.as<Dict>(), DictView::Part::Keys, item);
    case Type::DictView: {
        const auto& view = source_.as<DictView>();
        return next_entry(view.dict.as<Dict>(), view.part, item);
    }
    case Type::Range: {
        const auto& range = source_.as<Range>();
        if (std::int64_t(position_) >= range.length)
            return false;
        item = Value::integer(range.at(std::int64_t(position_++)));
        return true;
    }
    case Type::Generator:
        return source_.as<Generator>().pull(item);
    case Type::Loop:
        return source_.as<Loop>().advance(item);
    default:
        return false;  // undefined: nothing to walk over
    }
}

bool Iterator::next_character(Value& item)
{
    const std::string_view text = source_.text();
    if (position_ >= text.size())
        return false;
    const std::size_t start = position_;
    unicode::next(text, position_);
    item = heap_.part(source_, text.substr(start, position_ - start));
    return true;
}

bool Iterator::next_entry(const Dict& dict, DictView::Part part, Value& item)
{
    if (dict.size() != first_size_)
        throw TemplateError("dictionary changed size during iteration");
    if (position_ >= dict.size())
        return false;
    const Dict::Entry& entry = dict.entries()[position_++];
    if (part == DictView::Part::Keys)
        item = entry.key;
    else if (part == DictView::Part::Values)
        item = entry.value;
    else
        item = heap_.tuple({entry.key, entry.value});
    return true;
}

std::vector<Value> collect(Heap& heap, const Value& value)
{
    Value holder = heap.list();  // counts the memory of the items while it grows
    auto& list = holder.as<List>();
    Iterator iterator(heap, value);
    for (Value item; iterator.next(item);)
        list.push(item);
    return std::move(list.items);
}

}  // namespace engine::jinja
