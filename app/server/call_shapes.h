// CallShapes lists how families of models write calls of tools, and what reads what stands behind their marks.
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

/// Reads calls without a mark before them: a JSON object or Python's calls in a list. Only where the first names one of
/// the tools they are calls.
ReadCalls read_bare_calls(const CallBody& body);

}  // namespace server
