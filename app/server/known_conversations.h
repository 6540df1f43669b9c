// KnownConversations remembers the texts of the engine's conversations, so that a conversation that comes again finds
// its KV, whatever client sends it.
#pragma once

#include "engine/engine.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace server {

/// Returns a request as a text. Where a conversation continues another one, its text begins with the other's. The
/// template's arguments are left out.
std::string conversation_text(const engine::Request& request);

/// Used on the engine's thread only.
class KnownConversations
{
public:
    struct Match {
        std::optional<engine::SequenceId> goes_on;      // the request continues this conversation
        std::optional<engine::SequenceId> begins_like;  // shares the request's beginning, or is being answered
    };
    Match match(std::string_view text) const;

    /// Notes that a conversation is being answered from now on, so that match() offers it for branching only.
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
