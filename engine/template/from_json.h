// JSON into template values.
#pragma once

#include "engine/template/heap.h"

#include <nlohmann/json.hpp>

namespace engine::jinja {

Value from_json(Heap& heap, const nlohmann::ordered_json& json);

}  // namespace engine::jinja
