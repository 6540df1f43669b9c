// Formats "...{}...".format(values).
#pragma once

#include "engine/template/value.h"

#include <string>
#include <string_view>

namespace engine::jinja {

TracedText str_format(Interpreter& in, const TracedText& format, const Arguments& arguments);

}  // namespace engine::jinja
