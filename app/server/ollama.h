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

PlainAnswer ollama_version(const PlainRequest& request);
PlainAnswer ollama_tags(const PlainRequest& request);
PlainAnswer ollama_show(const PlainRequest& request);
PlainAnswer ollama_ps(const PlainRequest& request);

}  // namespace server
