// Refusal says why a request is not answered; each dialect writes it in its own form.
#pragma once

#include "engine/result.h"

#include <optional>
#include <string>

namespace server {

struct Refusal {
    enum class Kind {
        BadRequest,
        NoKey,         // or a wrong one
        Forbidden,     // for this web page, or under this name of the server
        NotFound,      // no such path, or model
        WrongMethod,   // of HTTP, for this path
        TooLarge,      // the request itself
        NotSupported,  // a known field with a wish that cannot be fulfilled
        PromptTooLong,
        Busy,  // not now: the client may try again later
        Failed,
    };
    Kind kind = Kind::Failed;
    std::string sentence;
    std::string field = {};  // the field at fault; empty: none is
    // PromptTooLong
    int prompt_tokens = 0;  // 0: not known
    int context_tokens = 0;
};

int http_status(Refusal::Kind kind);

Refusal refusal_of(const engine::Error& error);

}  // namespace server
