// Turns JSON into template values, and values into JSON.
#pragma once

#include "engine/template/heap.h"

#include <nlohmann/json_fwd.hpp>

namespace engine::jinja {

/// Converts the conversation and the arguments, which come as JSON. Texts have this `origin`; keys of objects
/// kOtherText.
Value from_json(Heap& heap, const nlohmann::ordered_json& json, TextOrigin origin = kOtherText);

struct JsonStyle {
    bool ascii = false;
    bool sort_keys = false;
    bool is_indented = false;
    std::string indent;  // one level
    std::string item_separator = ", ";
    std::string key_separator = ": ";
};

/// Does the `tojson` filter as chat templates know it: Python's json.dumps, without HTML escapes.
TracedText to_json(Heap& heap, const Value& value, const JsonStyle& style);

}  // namespace engine::jinja
