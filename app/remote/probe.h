// Asks a server what it is, which models it has and how busy it is.
#pragma once

#include "app/net/http_client.h"
#include "app/remote/server.h"
#include "app/remote/server_numbers.h"
#include "engine/model_info.h"

#include <chrono>
#include <stop_token>

namespace remote {

/// Finds out which program answers there, its version, and its models. A few short questions; the server need not know
/// all of them. Fails with one sentence where nothing at this address speaks OpenAI's API.
net::Result<ServerFacts> probe(net::HttpClient& client, const Server& server, const std::stop_token& stop);

/// Returns what the server says of its load now. NotFound: it has no page for that, or was not told to show it. Gives
/// up after `longest`.
net::Result<ServerNumbers> ask_numbers(net::HttpClient& client, const Server& server, const std::stop_token& stop,
                                       std::chrono::milliseconds longest = std::chrono::seconds(30));

/// Returns what can be said of one of its models, in place of a file's header. NotFound: it has none of this name.
engine::Result<engine::ModelInfo> info_of(const std::string& server, const std::string& model,
                                          const ServerFacts& facts);

}  // namespace remote
