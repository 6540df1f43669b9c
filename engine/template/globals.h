// Provides the functions that every template can call: range, dict, namespace, raise_exception, strftime_now, cycler,
// joiner.
#pragma once

#include "engine/template/value.h"

#include <string_view>

namespace engine::jinja {

/// Returns null where there is no such function.
Function::Body find_global(std::string_view name);

}  // namespace engine::jinja
