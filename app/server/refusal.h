// Refusal says why a request is not answered as it was asked; each dialect puts it in its own words.
#pragma once

#include "engine/result.h"

#include <optional>
#include <string>

namespace server {

struct Refusal {
    enum class Kind {
        BadRequest,
        NoKey,         // or a wrong one
        Forbidden,     // from this page, or under this name
        NotFound,      // no such path, or model
        WrongMethod,   // of HTTP, for this path
        TooLarge,      // the request itself
        NotSupported,  // a field that is known, and not what it asks for
        PromptTooLong,
        Busy,  // come again
        Failed,
    };
    Kind kind = Kind::Failed;
    std::string sentence;
    std::string field = {};  // whose value it is about; empty: none's
    // PromptTooLong
    int prompt_tokens = 0;
    int context_tokens = 0;
};

int http_status(Refusal::Kind kind);

Refusal refusal_of(const engine::Error& error);

}  // namespace server
