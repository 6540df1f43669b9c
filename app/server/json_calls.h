// JsonCalls reads calls that are JSON: an object with a name and arguments, or an array of such objects.
#pragma once

#include "app/server/call_body.h"

namespace server {

/// Once one of an array has been told of, what is no call behind it is passed over.
ReadCalls read_json_calls(const CallBody& body);

}  // namespace server
