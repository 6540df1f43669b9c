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

    /// Null: there is no such conversation.
    Conversation* find(SequenceId sequence);
    const Conversation* find_saved_as(const std::string& name) const;
    /// Returns the conversations that have this page at this place, counted in pages: branches share pages.
    std::vector<SequenceId> with_page(PageId page, std::size_t number) const;
    /// The conversation's next turn begins.
    void use(SequenceId sequence);
    /// The one that was used last; null: none is there that was.
    Conversation* last() { return find(last_used_); }

    SequenceId last_used() const { return last_used_; }

    /// The conversation that was used longest ago, of those that are not answered now, gives up its oldest checkpoint,
    /// and where it has none its KV: it is prefilled again when it goes on. False: none of them has any.
    bool take_from_oldest(KvCache& cache);

private:
    std::map<SequenceId, Conversation> kept_;
    SequenceId last_made_ = 0;
    SequenceId last_used_ = 0;
    std::uint64_t uses_ = 0;  // counts turns: who was used last
};

}  // namespace engine
