// oldestTurns() and largerContext() compute what can be done when a context is full.
#pragma once

#include "app/chat/open_conversation.h"
#include "engine/model_info.h"

#include <QStringList>

#include <cstdint>
#include <optional>

/// The oldest turns of the shown path without which the rest takes half of the context at most: each with its answer,
/// never the last one; where nobody knows what the context holds (0), the oldest alone. Empty: there is nothing to
/// leave out.
QStringList oldestTurns(const OpenConversation& conversation, int contextTokens);

/// A larger context for the model that is open.
struct LargerContext {
    int tokens = 0;
    std::int64_t bytes = 0;  // of its KV cache when it is full
    std::int64_t freeBytes = 0;
    bool operator==(const LargerContext&) const = default;
};

/// Twice the present one, as far as the model was made for it, and more where so many tokens need it. Empty: it was not
/// made for that, the memory is not there, or nobody can tell.
std::optional<LargerContext> largerContext(const engine::ModelInfo& model, std::optional<std::int64_t> freeBytes,
                                           int tokens = 0);
