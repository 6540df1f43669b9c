// The `tojson` filter as chat templates know it: Python's json.dumps, without HTML escapes.
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

std::string to_json(Heap& heap, const Value& value, const JsonStyle& style);
std::string json_string(std::string_view text, bool ascii);

}  // namespace engine::jinja
