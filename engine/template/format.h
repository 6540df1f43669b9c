// Formats values into text, as Python's % and str.format do.
#pragma once

#include "engine/template/heap.h"

#include <string_view>

namespace engine::jinja {

/// Says how one value is to be written. Both of Python's spellings end up here.
struct FormatSpec {
    std::string fill = " ";
    char align = '\0';  // < > ^ =; none: left for text, right for numbers
    char sign = '-';    // + or space: also before what is not negative
    bool alternate = false;
    std::int64_t width = 0;
    char grouping = '\0';  // , or _
    std::int64_t precision = -1;
    char type = '\0';
};

/// Parses what stands between % and its letter, and behind the colon of a format field:
/// "[[fill]align][sign][#][0][width][grouping][.precision][type]".
FormatSpec parse_format_spec(std::string_view text);

TracedText format_text(Heap& heap, const TracedText& text, const FormatSpec& spec);
std::string format_integer(Heap& heap, std::int64_t value, const FormatSpec& spec);
std::string format_float(Heap& heap, double value, const FormatSpec& spec);
TracedText format_value(Heap& heap, const Value& value, const FormatSpec& spec);

/// Formats "..." % values: a tuple of values, a dictionary for %(name)s, or the only value.
Value percent_format(Heap& heap, const Value& format, const Value& values);
/// Formats "...{}...".format(values).
TracedText str_format(Interpreter& in, const TracedText& format, const Arguments& arguments);

}  // namespace engine::jinja
