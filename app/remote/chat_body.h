// Writes a request to the engine in the form that a server reads.
#pragma once

#include "app/remote/server.h"
#include "engine/engine.h"

#include <string>
#include <string_view>

namespace remote {

/// Says whether a server of this kind knows a sampling option by its name in a conversation's settings: "temperature",
/// "top_p", "top_k", "min_p", "repeat_penalty", "max_tokens", "seed" and the engine's further ones. An unknown option
/// is not sent: some servers refuse the request for it, others ignore it silently.
bool knows(Kind kind, std::string_view sampling);

/// Returns the path of the API for this request: that of chats, or that of continued texts.
std::string path_of(const engine::Request& request);

/// Returns the body of a streamed request. BadRequest where a server of this kind cannot be asked for what it wants.
engine::Result<std::string> body_of(const engine::Request& request, const std::string& model, Kind kind);

}  // namespace remote
