// Says what a server meant by a status that is not success.
#pragma once

#include "app/net/http_client.h"

#include <string>
#include <string_view>

namespace net {

/// `with_token`: one was sent. `body`: the beginning of the answer, which may name the reason.
Failure failure_of(const HttpHead& head, bool with_token, std::string_view body, Asked asked);

/// Seconds that a Retry-After header asks for, as a number or as a date; 0: none.
std::chrono::seconds retry_after(std::string_view value, std::chrono::system_clock::time_point now);

/// Seconds until there may be requests again, by a RateLimit header such as `"api";r=0;t=55`, which the Hugging Face
/// hub sends in its place (draft-ietf-httpapi-ratelimit-headers); 0: no limit is used up, or none is named.
std::chrono::seconds rate_limit_wait(std::string_view value);

}  // namespace net
