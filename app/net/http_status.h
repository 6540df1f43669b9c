// failure_of() says what a server meant by a status that is not success.
#pragma once

#include "app/net/http_client.h"

#include <string>
#include <string_view>

namespace net {

/// Returns the failure for a status. `with_token`: a token was sent. `body`: the beginning of the answer, which may say
/// the reason.
Failure failure_of(const HttpHead& head, bool with_token, std::string_view body, Asked asked);

/// Returns the seconds that a Retry-After header asks to wait, as a number or as a date; 0: none.
std::chrono::seconds retry_after(std::string_view value, std::chrono::system_clock::time_point now);

/// Returns the seconds until requests are allowed again, by a RateLimit header such as `"api";r=0;t=55`, which the
/// Hugging Face hub sends in place of Retry-After (draft-ietf-httpapi-ratelimit-headers); 0: no limit is used up.
std::chrono::seconds rate_limit_wait(std::string_view value);

}  // namespace net
