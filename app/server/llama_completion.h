// LlamaCompletion translates llama-server's own completions, /completion; LlamaInfill those of gaps in a text, /infill.
#pragma once

#include "app/server/dialect.h"

namespace server {

class LlamaCompletion final : public Dialect
{
public:
    tl::expected<Asked, Refusal> read(const Json& body, const Served& served) const override;
    std::string error(const Refusal& refusal) const override;
};

/// `input_prefix` and `prompt` stand before the gap, `input_suffix` behind it; `input_extra` has other files.
class LlamaInfill final : public Dialect
{
public:
    tl::expected<Asked, Refusal> read(const Json& body, const Served& served) const override;
    std::string error(const Refusal& refusal) const override;
};

}  // namespace server
