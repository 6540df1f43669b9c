// Asks a server what it is, which models it has and how busy it is.
#pragma once

#include "app/net/http_client.h"
#include "app/remote/server.h"
#include "app/remote/server_numbers.h"
#include "engine/model_info.h"

#include <chrono>
#include <stop_token>

namespace remote {

/// Finds out which program answers at a server's address, its version, and its models, by a few short questions; the
/// server need not know all of them. Fails with one sentence where nothing at this address speaks OpenAI's API.
net::Result<ServerFacts> probe(net::HttpClient& client, const Server& server, const std::stop_token& stop);

/// Returns the numbers that the server gives of its present load. NotFound: it has no page for them, or was not told to
/// show it. Gives up after `longest`.
net::Result<ServerNumbers> ask_numbers(net::HttpClient& client, const Server& server, const std::stop_token& stop,
                                       std::chrono::milliseconds longest = std::chrono::seconds(30));

/// Returns what `facts` say of a server's model; stands in for what is read from a file's header. NotFound: the server
/// has no model of this name.
engine::Result<engine::ModelInfo> info_of(const std::string& server, const std::string& model,
                                          const ServerFacts& facts);

}  // namespace remote
