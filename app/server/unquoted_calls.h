// UnquotedCalls reads calls in which the names of arguments have no quotes: Gemma's and Python's.
#pragma once

#include "app/server/call_body.h"

namespace server {

/// Reads Gemma 4's call:NAME{key:value,...}.
ReadCalls read_gemma_call(const CallBody& body);

/// Reads a list of Python's calls, [NAME(key=value, ...), ...], or of JSON's.
ReadCalls read_python_calls(const CallBody& body);

}  // namespace server
