#include "app/chat/context_choices.h"

#include <algorithm>

namespace {

// Bytes left to the rest of the machine beside the KV cache.
constexpr std::int64_t kMemoryMargin = 512LL << 20;

/// Returns the tokens of a message as counted, with a guess of the template's share; if it was never counted, they are
/// guessed by its length.
int tokensOf(const OpenConversation& conversation, const StoredMessage& message)
{
    constexpr int kCharactersPerToken = 4;
    constexpr int kTemplateShare = 6;
    const auto counted = conversation.tokens.constFind(message.id);
    if (counted != conversation.tokens.constEnd())
        return *counted + kTemplateShare;
    return int(message.text.size()) / kCharactersPerToken + kTemplateShare;
}

}  // namespace

QStringList oldestTurns(const OpenConversation& conversation, int contextTokens)
{
    using Role = StoredMessage::Role;
    QList<const StoredMessage*> kept;
    int tokens = conversation.ledger.systemTokens;
    for (const StoredMessage* message : conversation.tree.path())
        if (!message->leftOut) {
            kept.append(message);
            tokens += tokensOf(conversation, *message);
        }

    QStringList turns;
    qsizetype first = 0;
    while (first < kept.size() && (turns.isEmpty() || (contextTokens > 0 && tokens > contextTokens / 2))) {
        const auto next = std::find_if(kept.cbegin() + first + 1, kept.cend(),
                                       [](const StoredMessage* message) { return message->role == Role::User; });
        if (next == kept.cend())
            break;  // the last turn stays
        for (auto message = kept.cbegin() + first; message != next; ++message) {
            turns.append((*message)->id);
            tokens -= tokensOf(conversation, **message);
        }
        first = next - kept.cbegin();
    }
    return turns;
}

std::optional<LargerContext> largerContext(const engine::ModelInfo& model, std::optional<std::int64_t> freeBytes,
                                           int tokens)
{
    if (!freeBytes || model.context_in_use <= 0)
        return {};
    LargerContext larger;
    // A quarter more for the answer.
    const std::int64_t needed = tokens + std::int64_t(tokens) / 4;
    const std::int64_t wanted = std::max(std::int64_t(model.context_in_use) * 2, (needed + 1023) / 1024 * 1024);
    larger.tokens = int(std::min<std::int64_t>(wanted, model.context_tokens));
    larger.bytes = larger.tokens * model.kv_bytes_per_token_f16;
    larger.freeBytes = *freeBytes;
    if (larger.tokens <= std::max(tokens, model.context_in_use) || larger.bytes + kMemoryMargin > larger.freeBytes)
        return {};
    return larger;
}
