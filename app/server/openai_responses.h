// OpenAiResponses is the dialect of /v1/responses, and answers for those that are kept.
#pragma once

#include "app/server/dialect.h"
#include "app/server/kept_responses.h"
#include "app/server/plain_answers.h"

#include <memory>

namespace server {

class OpenAiResponses final : public Dialect
{
public:
    tl::expected<Asked, Refusal> read(const Json& body, const Served& served) const override;
    std::string error(const Refusal& refusal) const override;
    KeptResponses& kept() const { return *kept_; }

private:
    const std::shared_ptr<KeptResponses> kept_ = std::make_shared<KeptResponses>();
};

/// Returns a response that is kept, as it was answered: /v1/responses/ID, or the same without v1.
PlainAnswer kept_response(const PlainRequest& request);
/// Forgets a response: DELETE at the same path.
PlainAnswer forget_response(const PlainRequest& request);

}  // namespace server
