// Sorts values, and finds the keys that filters sort and group by.
#pragma once

#include "engine/template/heap.h"

#include <vector>

namespace engine::jinja {

class Interpreter;

/// Sorts `items` by `keys` (one for each), keeping the order of equals, backwards too.
void sort_values(Heap& heap, std::vector<Value>& items, const std::vector<Value>& keys, bool reverse);

/// Returns the value that a filter's `attribute=` means, such as "function.name" or "0"; in lower case unless
/// case_sensitive. `attribute` may be Missing or none: the item itself. `otherwise` replaces an undefined value, unless
/// it is Missing.
Value attribute_key(Interpreter& in, Value item, const Value& attribute, bool case_sensitive = true,
                    const Value& otherwise = Value());

}  // namespace engine::jinja
