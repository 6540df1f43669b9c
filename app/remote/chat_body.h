// Writes a request of the engine's as a server elsewhere reads it.
#pragma once

#include "app/remote/server.h"
#include "engine/engine.h"

#include <string>
#include <string_view>

namespace remote {

/// Says whether such a server knows a sampling option by its name in a conversation's settings: "temperature", "top_p",
/// "top_k", "min_p", "repeat_penalty", "max_tokens", "seed" and the engine's further ones. What it does not know is not
/// sent: some refuse a request for it, others pass over it in silence.
bool knows(Kind kind, std::string_view sampling);

/// The path at which it is asked: a chat, or a text that is gone on with.
std::string path_of(const engine::Request& request);

/// The body of a streamed request. BadRequest where the server has no way to be asked for it.
engine::Result<std::string> body_of(const engine::Request& request, const std::string& model, Kind kind);

}  // namespace remote
