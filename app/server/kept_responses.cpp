#include "app/server/kept_responses.h"

#include <algorithm>
#include <utility>

namespace server {

void KeptResponses::keep(std::string id, const Json& messages, const Json& items, std::string response)
{
    Kept kept{std::move(id), text_of(messages), std::move(response)};
    kept.bytes = kept.messages.size() + kept.response.size();
    std::map<std::string, std::string> texts;
    for (const Json& item : items) {
        kept.items.push_back(item["id"].get<std::string>());
        kept.bytes += (texts[kept.items.back()] = text_of(item)).size();
    }
    if (kept.bytes > most_bytes_)
        return;
    const std::lock_guard lock(mutex_);
    bytes_ += kept.bytes;
    kept_.push_back(std::move(kept));
    items_.merge(texts);
    while (bytes_ > most_bytes_)
        drop(kept_.begin());
}

/// Called under the lock.
void KeptResponses::drop(const std::deque<Kept>::iterator& kept)
{
    bytes_ -= kept->bytes;
    for (const std::string& item : kept->items)
        items_.erase(item);
    kept_.erase(kept);
}

std::optional<Json> KeptResponses::find(const std::string& id) const
{
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(kept_, id, &Kept::id);
    if (found == kept_.end())
        return std::nullopt;
    return Json::parse(found->messages);
}

std::optional<Json> KeptResponses::find_item(const std::string& id) const
{
    const std::lock_guard lock(mutex_);
    const auto found = items_.find(id);
    if (found == items_.end())
        return std::nullopt;
    return Json::parse(found->second);
}

std::optional<std::string> KeptResponses::find_response(const std::string& id) const
{
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(kept_, id, &Kept::id);
    if (found == kept_.end())
        return std::nullopt;
    return found->response;
}

bool KeptResponses::forget(const std::string& id)
{
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(kept_, id, &Kept::id);
    if (found == kept_.end())
        return false;
    drop(found);
    return true;
}

}  // namespace server
