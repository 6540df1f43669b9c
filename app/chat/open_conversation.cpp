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
    return !tree.isEmpty() || !header.draft.isEmpty() || !header.draftFiles.isEmpty() || header.titleByUser ||
           header.pinned || !header.folder.isEmpty() || !(header.settings == ConversationSettings());
}

QStringList OpenConversation::cutAnswers() const
{
    using Status = StoredMessage::Status;
    const StoredMessage* const shown = last();
    const auto didNotFit = [&](const StoredMessage& version) {  // like the shown one, which has the same sentence
        return version.status == Status::Failed && version.text.isEmpty() && shown->status == Status::Failed &&
               version.sentence == shown->sentence;
    };
    QStringList cut = answers;
    for (const StoredMessage* version : tree.after(compared))
        if ((version->status == Status::ContextFull || didNotFit(*version)) && !cut.contains(version->id))
            cut.append(version->id);
    return cut;
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
    if (counted.messages.empty())  // a model that goes on with a text, or a server that gives a sum only
        ledger.messageTokens = counted.total_tokens;
    for (const int dropped : counted.dropped_messages)
        if (StoredMessage* const message = tree.find(ids.value(dropped)))
            message->leftOut = true;
}

void OpenConversation::takeNumbers(StoredMessage& made, const engine::Telemetry& numbers)
{
    const bool wentOn = !before.value(made.id).text.isEmpty() && made.tokens;
    made.tokens = (wentOn ? *made.tokens : 0) + numbers.generated_tokens;
    made.ttftMs = wentOn ? made.ttftMs : numbers.ttft_ms;
    if (numbers.decode_tokens_per_s)
        made.tokensPerSecond = numbers.decode_tokens_per_s;
    made.draftedTokens = (wentOn ? made.draftedTokens.value_or(0) : 0) + numbers.drafted_tokens;
    made.acceptedTokens = (wentOn ? made.acceptedTokens.value_or(0) : 0) + numbers.accepted_tokens;
    tokens.insert(made.id, *made.tokens);
}

QStringList OpenConversation::takeAnswersBack(const QString& sentence)
{
    QStringList said;
    while (!answers.isEmpty()) {
        const QString answer = answers.takeLast();  // the newest first: only that can be removed
        StoredMessage* const made = tree.find(answer);
        if (!made)
            continue;
        if (before.contains(answer)) {
            *made = before[answer];
        } else if (sentence.isEmpty()) {
            tree.removeLast(answer);
        } else {
            made->status = StoredMessage::Status::Failed;
            made->sentence = sentence;
            said.prepend(answer);
        }
    }
    return said;
}

QList<MessageTokens> OpenConversation::messageTokens() const
{
    QList<MessageTokens> found;
    for (auto place = places.begin(); place != places.end(); ++place)
        if (const int message = tree.number(place.key()); message > 0 || place.key() == PinnedMessages::kSystemPrompt)
            found.append({message, place.value()});
    std::sort(found.begin(), found.end(),
              [](const MessageTokens& a, const MessageTokens& b) { return a.tokens.first < b.tokens.first; });
    return found;
}

QString newId()
{
    return QUuid::createUuid().toString(QUuid::WithoutBraces);
}

qint64 nowMs()
{
    return QDateTime::currentMSecsSinceEpoch();
}

StoredMessage::Status statusAfter(engine::StopReason reason)
{
    using Status = StoredMessage::Status;
    switch (reason) {
    case engine::StopReason::EndOfTurn:
    case engine::StopReason::StopString:
        return Status::Complete;
    case engine::StopReason::MaxTokens:
        return Status::LengthLimit;
    case engine::StopReason::ContextFull:
        return Status::ContextFull;
    case engine::StopReason::Cancelled:
        return Status::Stopped;
    }
    return Status::Complete;
}

StoredMessage newAnswer(const QString& id, const QString& question)
{
    StoredMessage answer;
    answer.id = id;
    answer.parent = question;
    answer.role = StoredMessage::Role::Assistant;
    answer.status = StoredMessage::Status::Streaming;
    answer.createdMs = nowMs();
    return answer;
}

#include "moc_open_conversation.cpp"
