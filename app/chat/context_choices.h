// oldestTurns() and largerContext() compute what can be done when a context is full.
#pragma once

#include "app/chat/open_conversation.h"
#include "engine/model_info.h"

#include <QStringList>

#include <cstdint>
#include <optional>

/// Returns the ids of the messages of the oldest turns on the shown path: so many turns that the rest takes half of the
/// context at most, never the last one; the oldest alone if the context's size is not known (0). Empty: there is
/// nothing to leave out.
QStringList oldestTurns(const OpenConversation& conversation, int contextTokens);

/// A larger context for the model that is open.
struct LargerContext {
    int tokens = 0;
    std::int64_t bytes = 0;  // of its KV cache when it is full
    std::int64_t freeBytes = 0;
    bool operator==(const LargerContext&) const = default;
};

/// Returns twice the present context, or more where a question of `tokens` needs more, but not more than the model was
/// made for. Nothing: the model was not made for a larger one, there is no memory for it, or that is not known.
std::optional<LargerContext> largerContext(const engine::ModelInfo& model, std::optional<std::int64_t> freeBytes,
                                           int tokens = 0);
