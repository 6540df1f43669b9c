// OpenAiResponses is the dialect of /v1/responses.
#pragma once

#include "app/server/dialect.h"
#include "app/server/kept_responses.h"

#include <memory>

namespace server {

class OpenAiResponses final : public Dialect
{
public:
    tl::expected<Asked, Refusal> read(const Json& body, const Served& served) const override;
    std::string error(const Refusal& refusal) const override;

private:
    const std::shared_ptr<KeptResponses> kept_ = std::make_shared<KeptResponses>();
};

}  // namespace server
