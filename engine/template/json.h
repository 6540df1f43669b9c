// Turns JSON into template values, and values into JSON.
#pragma once

#include "engine/template/heap.h"

#include <nlohmann/json.hpp>

namespace engine::jinja {

/// The conversation and the arguments come as JSON. Its texts come from `origin`; the keys of its objects from anybody.
Value from_json(Heap& heap, const nlohmann::ordered_json& json, TextOrigin origin = kOtherText);

struct JsonStyle {
    bool ascii = false;
    bool sort_keys = false;
    bool is_indented = false;
    std::string indent;  // one level
    std::string item_separator = ", ";
    std::string key_separator = ": ";
};

/// The `tojson` filter as chat templates know it: Python's json.dumps, without HTML escapes.
TracedText to_json(Heap& heap, const Value& value, const JsonStyle& style);

}  // namespace engine::jinja
