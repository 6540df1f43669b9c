// CallShapes lists how families of models write calls of tools, and reads what stands behind their marks.
#pragma once

#include "app/server/fields.h"

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace server {

struct WrittenCall {
    std::string name;
    std::string arguments;  // a JSON object, as far as it has come
    bool whole = true;
};

/// What stands behind a mark, as far as it has come. It begins with no space.
struct CallBody {
    std::string_view text;
    std::string_view close;  // of its shape
    bool ended = false;      // no more text comes
    const Json& tools;       // as in OpenAI's requests
};

/// What is said of the beginning of a text holds for the text: calls stay, and their arguments only grow. So clients
/// can be told of them while they are being written.
struct ReadCalls {
    enum class Found { Calls, None, NotYet };
    Found found = Found::None;
    std::vector<WrittenCall> calls = {};  // NotYet: those that have begun, the last of which may not be whole
    std::size_t bytes = 0;                // of the text that they are
};

struct CallShape {
    std::string_view open;
    std::string_view close;  // empty: the calls end where the last one ends
    ReadCalls (*read)(const CallBody& body);
};

std::span<const CallShape> call_shapes();

/// Without a mark before them: a JSON object or Python's calls in a list. Only where the first names one of the
/// tools they are calls.
ReadCalls read_bare_calls(const CallBody& body);

}  // namespace server
