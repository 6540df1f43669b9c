// JsonCalls reads calls that are JSON: an object with a name and arguments, or an array of such objects.
#pragma once

#include "app/server/call_body.h"

namespace server {

/// Reads calls. In an array, elements behind the first call that are no calls are skipped.
ReadCalls read_json_calls(const CallBody& body);

}  // namespace server
