// KnownConversations remembers what the engine's conversations have been asked, so that one that comes again finds its
// KV, whatever client sends it.
#pragma once

#include "engine/engine.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace server {

/// A request as a text of which a longer conversation's has a shorter one's as its beginning. The template's arguments
/// are no part of it.
std::string conversation_text(const engine::Request& request);

/// One thread, the engine's.
class KnownConversations
{
public:
    struct Match {
        std::optional<engine::SequenceId> goes_on;      // the request is all that it was asked, and more
        std::optional<engine::SequenceId> begins_like;  // they share their beginning, or it is being answered
    };
    Match match(std::string_view text) const;

    /// The conversation is being answered from now on: nobody else has it.
    void asked(engine::SequenceId sequence, std::string text);
    void answered(engine::SequenceId sequence);
    void forget(engine::SequenceId sequence) { kept_.erase(sequence); }
    void clear() { kept_.clear(); }
    /// Returns the conversation that was asked longest ago and is not being answered, where there are more than `most`.
    std::optional<engine::SequenceId> one_too_many(std::size_t most) const;

private:
    struct Kept {
        std::string text;
        std::uint64_t last_asked = 0;
        bool being_answered = true;
    };
    std::map<engine::SequenceId, Kept> kept_;
    std::uint64_t asked_ = 0;
};

}  // namespace server
