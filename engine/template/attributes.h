// Finds the value of an attribute (object.name) or an item (object[key]).
#pragma once

#include "engine/template/heap.h"

#include <cstddef>
#include <string>
#include <string_view>

namespace engine::jinja {

/// Return the value, or an undefined one where there is none. Throw TemplateError where the object itself is undefined.
Value get_attribute(Heap& heap, const Value& object, const std::string& name);
Value get_item(Heap& heap, const Value& object, const Value& key);

/// A method of one of the built-in types.
struct Method {
    std::string_view name;
    Function::Body body;
};

/// Returns the method of that name in a table, or null.
template <std::size_t N>
const Method* find_in(const Method (&methods)[N], std::string_view name)
{
    for (const Method& method : methods)
        if (method.name == name)
            return &method;
    return nullptr;
}

/// Returns the method that object.name means, or null.
const Method* find_method(const Value& object, std::string_view name);

// These find a method of one type by its name; null: the type has none of that name.
const Method* find_string_method(std::string_view name);
const Method* find_string_query(std::string_view name);  // isdigit and its like, find, count
const Method* find_list_method(std::string_view name);
const Method* find_tuple_method(std::string_view name);
const Method* find_dict_method(std::string_view name);

}  // namespace engine::jinja
