// Conversations keeps the engine's conversations: makes, branches and ends them, and says whose KV may go.
#pragma once

#include "engine/engine.h"
#include "engine/run/conversation.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace engine {

class Conversations
{
public:
    /// Throws std::bad_alloc; nothing has changed then. The same holds for branch().
    SequenceId create();
    /// Makes another conversation that begins like `from`, with its first `tokens` tokens (all, when negative).
    /// Precondition: `from` is there.
    SequenceId branch(SequenceId from, int tokens, KvCache& cache);
    void end(SequenceId sequence, KvCache& cache);
    void clear() { kept_.clear(); }

    /// Returns null where there is no such conversation.
    Conversation* find(SequenceId sequence);
    const Conversation* find_saved_as(const std::string& name) const;
    /// Returns the conversations that have this page at this place, counted in pages: branches share pages.
    std::vector<SequenceId> with_page(PageId page, std::size_t number) const;
    /// Call it when the conversation's next turn begins.
    void use(SequenceId sequence);
    /// Returns the conversation that was used last; null: there is none.
    Conversation* last() { return find(last_used_); }

    SequenceId last_used() const { return last_used_; }

    /// Makes the conversation that was used longest ago, of those that are not answered now, give up its oldest
    /// checkpoint, or else its KV: that is computed again when the conversation goes on. False: none of them has any.
    bool take_from_oldest(KvCache& cache);

private:
    std::map<SequenceId, Conversation> kept_;
    SequenceId last_made_ = 0;
    SequenceId last_used_ = 0;
    std::uint64_t uses_ = 0;  // counts turns: the conversation used last has the highest
};

}  // namespace engine
