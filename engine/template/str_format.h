// "...{}...".format(values).
#pragma once

#include "engine/template/value.h"

#include <string>
#include <string_view>

namespace engine::jinja {

std::string str_format(Interpreter& in, std::string_view format, const Arguments& arguments);

}  // namespace engine::jinja
