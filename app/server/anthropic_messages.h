// AnthropicMessages is the dialect of /v1/messages.
#pragma once

#include "app/server/dialect.h"

namespace server {

class AnthropicMessages final : public Dialect
{
public:
    tl::expected<Asked, Refusal> read(const Json& body, const Served& served) const override;
    std::string error(const Refusal& refusal) const override;
};

}  // namespace server
