// Declares the dialects of Ollama's /api/chat and /api/generate, and what it says of its models.
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

/// Says whether a chat or a prompt asks for nothing but that the model be there, or be gone.
bool only_moves_model(const Json& body);
/// Loads the model, or lets it leave.
PlainAnswer ollama_move_model(const PlainRequest& request);

PlainAnswer ollama_heartbeat(const PlainRequest& request);
PlainAnswer ollama_version(const PlainRequest& request);
PlainAnswer ollama_tags(const PlainRequest& request);
PlainAnswer ollama_show(const PlainRequest& request);
PlainAnswer ollama_ps(const PlainRequest& request);
/// Answers whoever wants a model to be fetched before it is asked: it is there. Others are refused before that.
PlainAnswer ollama_pull(const PlainRequest& request);

}  // namespace server
