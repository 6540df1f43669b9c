#include "app/server/kept_responses.h"

#include <algorithm>
#include <utility>

namespace server {

void KeptResponses::keep(std::string id, const Json& messages)
{
    Kept kept{std::move(id), text_of(messages)};
    if (kept.messages.size() > most_bytes_)
        return;
    const std::lock_guard lock(mutex_);
    bytes_ += kept.messages.size();
    kept_.push_back(std::move(kept));
    for (; bytes_ > most_bytes_; kept_.pop_front())
        bytes_ -= kept_.front().messages.size();
}

std::optional<Json> KeptResponses::find(const std::string& id) const
{
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(kept_, id, &Kept::id);
    if (found == kept_.end())
        return std::nullopt;
    return Json::parse(found->messages);
}

}  // namespace server
