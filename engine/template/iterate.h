// Walks over everything that Python lets one iterate over.
#pragma once

#include "engine/template/heap.h"

namespace engine::jinja {

/// Python's iterator over one value. Sees elements appended to a list during the walk, as Python does.
class Iterator
{
public:
    /// Fails where the value is not iterable.
    Iterator(Heap& heap, Value source);

    bool next(Value& item);

private:
    bool next_character(Value& item);
    bool next_entry(const Dict& dict, DictView::Part part, Value& item);

    Heap& heap_;
    Value source_;
    std::size_t position_ = 0;  // element, or byte of a string
    std::size_t first_size_ = 0;
};

bool is_iterable(const Value& value);
std::vector<Value> collect(Heap& heap, const Value& value);  // list(value)

}  // namespace engine::jinja
