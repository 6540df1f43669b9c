// Finds the variables that a template reads from outside.
#pragma once

#include "engine/template/syntax.h"

#include <string>
#include <vector>

namespace engine::jinja {

/// Returns the names that may be read before the template has set them itself, in order of first use, without the
/// functions that every template has (range, raise_exception ...).
std::vector<std::string> free_names(const Syntax& syntax);

}  // namespace engine::jinja
