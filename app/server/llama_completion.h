// LlamaCompletion translates llama-server's own completions, /completion.
#pragma once

#include "app/server/dialect.h"

namespace server {

class LlamaCompletion final : public Dialect
{
public:
    tl::expected<Asked, Refusal> read(const Json& body, const Served& served) const override;
    std::string error(const Refusal& refusal) const override;
};

}  // namespace server
