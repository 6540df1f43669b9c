#include "engine/run/conversations.h"

#include <algorithm>
#include <utility>

namespace engine {

SequenceId Conversations::create()
{
    kept_[last_made_ + 1];
    return ++last_made_;
}

SequenceId Conversations::branch(SequenceId from, int tokens, KvCache& cache)
{
    const Conversation& original = kept_.at(from);
    const int length = original.kv.length();
    const int shared = tokens < 0 ? length : std::min(tokens, length);
    Conversation copy;
    copy.replies = original.replies;
    copy.pins = original.pins;
    if (original.draft)
        copy.draft = original.draft->branch(shared);
    if (original.mtp)
        copy.mtp = original.mtp->branch(shared);
    Conversation& kept = kept_[last_made_ + 1];  // if what follows throws, the next call uses this empty one
    copy.kv = cache.branch(original.kv, shared);
    kept = std::move(copy);
    return ++last_made_;
}

void Conversations::end(SequenceId sequence, KvCache& cache)
{
    const auto found = kept_.find(sequence);
    if (found == kept_.end())
        return;
    cache.truncate(found->second.kv, 0);
    kept_.erase(found);
}

Conversation* Conversations::find(SequenceId sequence)
{
    const auto found = kept_.find(sequence);
    return found == kept_.end() ? nullptr : &found->second;
}

const Conversation* Conversations::find_saved_as(const std::string& name) const
{
    const auto found =
        std::ranges::find_if(kept_, [&](const auto& entry) { return !name.empty() && entry.second.saved_as == name; });
    return found == kept_.end() ? nullptr : &found->second;
}

std::vector<SequenceId> Conversations::with_page(PageId page, std::size_t number) const
{
    std::vector<SequenceId> with;
    for (const auto& [sequence, conversation] : kept_)
        if (number < conversation.kv.pages.size() && conversation.kv.pages[number] == page)
            with.push_back(sequence);
    return with;
}

void Conversations::use(SequenceId sequence)
{
    last_used_ = sequence;
    if (Conversation* used = find(sequence))
        used->kv.last_used = ++uses_;
}

bool Conversations::take_from_oldest(KvCache& cache)
{
    Conversation* oldest = nullptr;
    for (auto& [id, conversation] : kept_)
        if (!conversation.answered_now && !conversation.kv.pages.empty() &&
            (!oldest || conversation.kv.last_used < oldest->kv.last_used))
            oldest = &conversation;
    if (!oldest)
        return false;
    if (!oldest->kv.checkpoints.empty()) {
        cache.states().drop_oldest(oldest->kv);
        return true;
    }
    cache.truncate(oldest->kv, 0);
    oldest->draft.reset();
    oldest->mtp.reset();
    return true;
}

}  // namespace engine
