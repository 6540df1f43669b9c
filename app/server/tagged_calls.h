// TaggedCalls reads calls whose arguments stand in tags, each by itself.
#pragma once

#include "app/server/call_body.h"

namespace server {

/// Qwen3-Coder and later, Seed-OSS.
ReadCalls read_qwen_calls(const CallBody& body);
/// MiniMax.
ReadCalls read_minimax_calls(const CallBody& body);
/// DeepSeek V3.2.
ReadCalls read_dsml_calls(const CallBody& body);
/// The call has the marks itself, and its name ends where the first argument begins.
ReadCalls read_glm_call(const CallBody& body);

}  // namespace server
