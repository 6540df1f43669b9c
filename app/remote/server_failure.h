// Says what a server meant by a status that is not success, and which error a failed answer is.
#pragma once

#include "app/net/http_client.h"
#include "app/remote/server.h"
#include "engine/result.h"

#include <string>
#include <string_view>

namespace remote {

/// Returns the failure for a status that is not success. `with_key`: a key was sent. `body`: the beginning of the
/// answer, which may name the reason.
net::Failure refusal_of(const net::HttpHead& head, bool with_key, std::string_view body);

/// Returns the failure of a server that is not asked because the store does not give its key now.
net::Failure key_missing(const Server& server);

/// Returns the failure when a server reports an error in the middle of an answer; `message`: its own words, or empty.
net::Failure complaint_of(const std::string& host, const std::string& message);

/// Returns the error that the engine's callers are told. `begun`: a part of the answer had come.
engine::Error error_of(const net::Failure& failure, bool begun);

}  // namespace remote
