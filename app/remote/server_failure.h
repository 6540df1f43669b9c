// Says what a server meant by a status that is not success, and what became of an answer that broke off.
#pragma once

#include "app/net/http_client.h"
#include "app/remote/server.h"
#include "engine/result.h"

#include <string>
#include <string_view>

namespace remote {

/// `with_key`: one was sent. `body`: the beginning of the answer, which may name the reason.
net::Failure refusal_of(const net::HttpHead& head, bool with_key, std::string_view body);

/// Returns the failure of a server whose key is kept where it cannot be had now: it is not asked.
net::Failure key_missing(const Server& server);

/// Returns the failure when a server says in the middle of an answer or a request that it could not do it; `json` is
/// its "error".
net::Failure complaint_of(const std::string& host, const std::string& message);

/// Returns the error that the engine's callers are told. `begun`: a part of the answer had come.
engine::Error error_of(const net::Failure& failure, bool begun);

}  // namespace remote
