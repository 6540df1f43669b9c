// Answers what needs no turn: the model's name and facts, tokens, the state of the server.
#pragma once

#include "app/server/engine_desk.h"
#include "app/server/fields.h"
#include "app/server/http_message.h"
#include "app/server/metrics.h"

#include <string>

namespace server {

/// The body of an answer, or why there is none.
using PlainAnswer = tl::expected<std::string, Refusal>;

struct PlainRequest {
    EngineDesk& desk;
    Metrics& metrics;
    const Served& served;
    const Json& body;  // an empty object, where nothing was sent
    const std::string& path;
};

PlainAnswer openai_models(const PlainRequest& request);
/// One of them: /v1/models/NAME.
PlainAnswer openai_model(const PlainRequest& request);

}  // namespace server
