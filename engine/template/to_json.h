// Provides the `tojson` filter as chat templates know it: Python's json.dumps, without HTML escapes.
#pragma once

#include "engine/template/heap.h"

namespace engine::jinja {

struct JsonStyle {
    bool ascii = false;
    bool sort_keys = false;
    bool is_indented = false;
    std::string indent;  // one level
    std::string item_separator = ", ";
    std::string key_separator = ": ";
};

TracedText to_json(Heap& heap, const Value& value, const JsonStyle& style);

}  // namespace engine::jinja
