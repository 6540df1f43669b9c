#include "app/chat/open_conversation.h"

#include "app/chat/pinned_messages.h"

#include <QDateTime>
#include <QUuid>

#include <algorithm>

ConversationActivity::Value OpenConversation::activity() const
{
    switch (phase) {
    case Phase::Idle:
        return ConversationActivity::Idle;
    case Phase::Queued:
        return ConversationActivity::Queued;
    case Phase::Reading:
    case Phase::Answering:
    case Phase::Stopping:
        break;
    }
    return ConversationActivity::Answering;
}

bool OpenConversation::worthKeeping() const
{
    return !tree.isEmpty() || !header.draft.isEmpty() || !header.draftFiles.isEmpty() ||
           !(header.settings == ConversationSettings());
}

void OpenConversation::take(const engine::PromptLedger& counted, const QStringList& ids, const engine::Request& request,
                            int limit)
{
    ledger = {.known = true, .templateTokens = counted.template_tokens, .limit = limit};
    ledger.answerReserve = std::min(request.max_tokens >= 0 ? request.max_tokens : limit, limit / 4);
    places.clear();
    for (const auto& entry : counted.messages) {
        const QString id = ids.value(entry.message);
        if (id.isEmpty()) {
            const bool system = entry.message < int(request.messages.size()) &&
                                request.messages[size_t(entry.message)].role == "system";
            (system ? ledger.systemTokens : ledger.messageTokens) += entry.tokens.count();
            if (system)
                places.insert(PinnedMessages::kSystemPrompt, entry.tokens);
            continue;
        }
        ledger.messageTokens += entry.tokens.count();
        tokens.insert(id, entry.tokens.count());
        places.insert(id, entry.tokens);
        StoredMessage* const message = tree.find(id);
        if (message && message->role == StoredMessage::Role::User) {
            message->tokens = entry.tokens.count();
            int attached = 0;
            for (const Attachment& attachment : message->attachments)
                attached += attachment.tokens.value_or(0);
            ledger.attachedTokens += std::min(attached, entry.tokens.count());
        }
    }
    if (request.messages.empty())
        ledger.messageTokens = counted.total_tokens;
    for (const int dropped : counted.dropped_messages)
        if (StoredMessage* const message = tree.find(ids.value(dropped)))
            message->leftOut = true;
}

QString newId()
{
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

qint64 nowMs()
{
    return QDateTime::currentMSecsSinceEpoch();
}
