// Turns JSON into template values.
#pragma once

#include "engine/template/heap.h"

#include <nlohmann/json.hpp>

namespace engine::jinja {

/// Its texts come from `origin`; the keys of its objects from anybody.
Value from_json(Heap& heap, const nlohmann::ordered_json& json, TextOrigin origin = kOtherText);

}  // namespace engine::jinja
