// Asks several servers at once how many requests each of them has.
#pragma once

#include "app/net/http_client.h"
#include "app/remote/server.h"
#include "app/remote/server_choice.h"

#include <stop_token>
#include <vector>

namespace remote {

/// Asks how busy servers are, within a second; answers in the order of `servers`. A server that cannot be reached is
/// reported to `choice` as failed; one that rests already is not asked.
std::vector<Occupancy> ask_occupancy(net::HttpClient& client, const std::vector<ListedServer>& servers,
                                     ServerChoice& choice, const std::stop_token& stop);

}  // namespace remote
