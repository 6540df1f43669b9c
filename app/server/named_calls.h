// NamedCalls reads calls that are a name and, behind it, a JSON object.
#pragma once

#include "app/server/call_body.h"

namespace server {

/// Reads Mistral's NAME[ARGS]{...}, and NAME{...}; or JSON.
ReadCalls read_mistral_calls(const CallBody& body);

/// Reads what gpt-oss writes: behind "to=" a name, what else its head says, "<|message|>" and an object.
ReadCalls read_addressed_call(const CallBody& body);

/// Reads what DeepSeek R1, V3 and V3.1 write: each call has marks of its own.
ReadCalls read_deepseek_calls(const CallBody& body);
ReadCalls read_kimi_calls(const CallBody& body);

}  // namespace server
