// Formats "..." % values.
#pragma once

#include "engine/template/heap.h"

namespace engine::jinja {

/// `values` is a tuple of values, a dictionary for %(name)s, or the only value.
Value percent_format(Heap& heap, const Value& format, const Value& values);

}  // namespace engine::jinja
