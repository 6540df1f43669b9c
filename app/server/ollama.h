// Declares the dialects of Ollama's /api/chat and /api/generate, and Ollama's answers about models.
#pragma once

#include "app/server/dialect.h"
#include "app/server/plain_answers.h"

namespace server {

class OllamaChat final : public Dialect
{
public:
    tl::expected<Asked, Refusal> read(const Json& body, const Served& served) const override;
    std::string error(const Refusal& refusal) const override;
};

class OllamaGenerate final : public Dialect
{
public:
    tl::expected<Asked, Refusal> read(const Json& body, const Served& served) const override;
    std::string error(const Refusal& refusal) const override;
};

/// Says whether a chat or a prompt only asks for the model to be loaded or unloaded.
bool only_moves_model(const Json& body);
/// Loads or unloads the model.
PlainAnswer ollama_move_model(const PlainRequest& request);

PlainAnswer ollama_heartbeat(const PlainRequest& request);
PlainAnswer ollama_version(const PlainRequest& request);
PlainAnswer ollama_tags(const PlainRequest& request);
PlainAnswer ollama_show(const PlainRequest& request);
PlainAnswer ollama_ps(const PlainRequest& request);
/// Answers a client that wants a model to be fetched before it is used: success, since the model is there. Unknown
/// models are refused earlier.
PlainAnswer ollama_pull(const PlainRequest& request);

}  // namespace server
