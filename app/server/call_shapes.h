// CallShapes lists the marks with which families of models begin calls of tools, and the functions that read the text
// after them.
#pragma once

#include "app/server/call_body.h"

#include <span>
#include <string_view>

namespace server {

struct CallShape {
    std::string_view open;
    std::string_view close;  // empty: the calls end where the last one ends
    ReadCalls (*read)(const CallBody& body);
};

std::span<const CallShape> call_shapes();

/// Reads calls without a mark before them: a JSON object, or a list of Python's calls. They count as calls only where
/// the first names one of the tools.
ReadCalls read_bare_calls(const CallBody& body);

}  // namespace server
