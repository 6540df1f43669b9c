// TaggedCalls reads calls whose arguments stand in tags, each by itself.
#pragma once

#include "app/server/call_body.h"

namespace server {

/// Reads calls of Qwen3-Coder and later, and of Seed-OSS.
ReadCalls read_qwen_calls(const CallBody& body);
/// Reads calls of MiniMax.
ReadCalls read_minimax_calls(const CallBody& body);
/// Reads calls of DeepSeek V3.2.
ReadCalls read_dsml_calls(const CallBody& body);
/// Reads a call of GLM, which has no tags around its name: that ends where the first argument begins.
ReadCalls read_glm_call(const CallBody& body);

}  // namespace server
