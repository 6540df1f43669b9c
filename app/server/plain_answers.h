// Answers requests without a turn: the model's name and facts, tokens, the state of the server.
#pragma once

#include "app/server/engine_desk.h"
#include "app/server/fields.h"
#include "app/server/http_message.h"
#include "app/server/metrics.h"

#include <functional>
#include <string>

namespace server {

class Dialect;

/// The body of an answer, or the refusal.
using PlainAnswer = tl::expected<std::string, Refusal>;

struct PlainRequest {
    EngineDesk& desk;
    Models& models;
    Metrics& metrics;
    const Served* served;  // the model that the answer is about; null: none is loaded
    const Json& body;      // an empty object, where nothing was sent
    const std::string& path;
    const std::function<bool()>& client_is_gone;
    const Dialect* dialect;  // of the path, for errors; null: it has none
};

// ---- OpenAI's ----

PlainAnswer openai_models(const PlainRequest& request);
/// Answers /v1/models/NAME.
PlainAnswer openai_model(const PlainRequest& request);

// ---- OpenAI's and Anthropic's ----

/// Counts the tokens of the prompt that a request for an answer would have. The model need not be loaded.
PlainAnswer input_tokens(const PlainRequest& request);

// ---- llama-server's ----

PlainAnswer llama_tokenize(const PlainRequest& request);
PlainAnswer llama_detokenize(const PlainRequest& request);
PlainAnswer llama_apply_template(const PlainRequest& request);
PlainAnswer llama_props(const PlainRequest& request);
PlainAnswer llama_slots(const PlainRequest& request);
/// Answers with Metrics::text().
PlainAnswer metrics_text(const PlainRequest& request);

}  // namespace server
