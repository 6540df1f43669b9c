// Carries out the tests of `is`.
#pragma once

#include "engine/template/value.h"

#include <string>

namespace engine::jinja {

/// Carries out a test. Throws TemplateError where there is no such test, or it cannot be made.
bool passes_test(Interpreter& in, const std::string& name, const Value& input, Arguments& arguments);

}  // namespace engine::jinja
