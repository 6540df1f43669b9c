// OpenConversations: what the engine says of a turn, and what becomes of it.
#include "app/chat/open_conversations.h"
#include "app/chat/saved_note.h"
#include "app/worker/error_sentence.h"

#include <algorithm>

namespace {

StoredMessage::Status statusFor(engine::StopReason reason)
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

}  // namespace

OpenConversation* OpenConversations::running(quint64 number) const
{
    const TurnQueue::Turn* const turn = m_queue.running(number);
    return turn ? find(turn->conversation) : nullptr;
}

void OpenConversations::onPrompt(quint64 turn, const engine::PromptLedger& ledger)
{
    OpenConversation* const conversation = running(turn);
    if (!conversation)
        return;
    conversation->take(ledger, m_asked.ids, m_asked.request, contextTokens());
    StoredMessage& answer = *conversation->tree.find(conversation->answer);
    conversation->places[conversation->answer] = {ledger.total_tokens, contextTokens()};  // as far as it comes
    m_ranLast = conversation->header.id;
    if (!pinned(m_ranLast).isEmpty())
        postPins(*conversation);  // their places may be others than last time
    answer.promptTokens = ledger.total_tokens;
    answer.templateTokens = ledger.template_tokens;
    for (const int dropped : ledger.dropped_messages)
        save(*conversation, m_asked.ids.value(dropped));
    Q_EMIT tokensPlaced(conversation->header.id, placesOf(*conversation));
    Q_EMIT messagesChanged(conversation->header.id);
    Q_EMIT contextChanged(conversation->header.id);
}

QList<MessageTokens> OpenConversations::placesOf(const OpenConversation& conversation)
{
    QList<MessageTokens> places;
    for (auto place = conversation.places.begin(); place != conversation.places.end(); ++place)
        if (const int message = conversation.tree.number(place.key());
            message > 0 || place.key() == PinnedMessages::kSystemPrompt)
            places.append({message, place.value()});
    std::sort(places.begin(), places.end(),
              [](const MessageTokens& a, const MessageTokens& b) { return a.tokens.first < b.tokens.first; });
    return places;
}

void OpenConversations::togglePin(OpenConversation& conversation, const QString& message)
{
    m_pinned.toggle(conversation.header.id, message);
    if (m_ranLast == conversation.header.id)
        postPins(conversation);  // else when it runs
    Q_EMIT pinsChanged(conversation.header.id);
}

void OpenConversations::postPins(const OpenConversation& conversation)
{
    m_engine.worker()->post(engine::SetPins{m_pinned.tokens(conversation.header.id, conversation.places)});
}

void OpenConversations::onText(quint64 turn, const QString& text)
{
    OpenConversation* const conversation = running(turn);
    if (!conversation || text.isEmpty())
        return;
    StoredMessage& answer = *conversation->tree.find(conversation->answer);
    answer.text += text;
    if (conversation->phase == OpenConversation::Phase::Reading)
        setPhase(*conversation, OpenConversation::Phase::Answering);
    Q_EMIT textAdded(conversation->header.id, answer.id, text);
    if (!m_clock.add(text))
        return;
    answer.reasoningMs = m_clock.ms();
    m_savedSize = answer.text.size();
    save(*conversation, answer.id);
    Q_EMIT messagesChanged(conversation->header.id);
}

void OpenConversations::onTelemetry(quint64 turn, const engine::Telemetry& frame)
{
    OpenConversation* const conversation = running(turn);
    if (!conversation)
        return;
    conversation->frame = frame;
    Q_EMIT numbersChanged(conversation->header.id);
}

void OpenConversations::onNearlyFull(quint64 turn)
{
    OpenConversation* const conversation = running(turn);
    if (!conversation || conversation->goOnWhenFull)
        return;
    conversation->contextNearlyFull = true;
    Q_EMIT contextChanged(conversation->header.id);
}

void OpenConversations::onSavedKv(quint64 turn, const engine::Event& event)
{
    if (OpenConversation* const conversation = running(turn))
        setSavedNote(*conversation, savedNote(event));
}

void OpenConversations::onFinished(quint64 number, const engine::Turn& result)
{
    m_saveTimer.stop();
    if (const std::optional<TurnQueue::Turn> turn = m_queue.end(number)) {
        OpenConversation& conversation = *find(turn->conversation);
        const bool full = result.reason == engine::StopReason::ContextFull;
        conversation.contextFull = full;
        conversation.tooLongTokens = 0;
        conversation.contextNearlyFull = conversation.contextNearlyFull && !full;
        const bool goesOn = full && conversation.goOnWhenFull;
        settle(*turn, statusFor(result.reason), {}, &result.telemetry);
        if (goesOn)
            goOn(conversation, turn->answer);
        else
            Q_EMIT turnEnded(turn->conversation);
    }
    startNext();
    Q_EMIT turnsChanged();
    dropIdle();
}

void OpenConversations::onFailed(quint64 number, const engine::Error& error)
{
    using Code = engine::Error::Code;
    m_saveTimer.stop();
    if (const std::optional<TurnQueue::Turn> turn = m_queue.end(number)) {
        OpenConversation& conversation = *find(turn->conversation);
        conversation.contextFull = error.code == Code::ContextFull;
        conversation.tooLongTokens = 0;
        conversation.contextNearlyFull = false;
        if (error.code == Code::Cancelled)
            settle(*turn, StoredMessage::Status::Stopped, {}, nullptr);
        else
            settle(*turn, StoredMessage::Status::Failed, errorSentence(error), nullptr);
        Q_EMIT turnEnded(turn->conversation);
    }
    if (m_model && (error.code == Code::CannotRead || error.code == Code::NotLoaded)) {
        setModel({});
        Q_EMIT modelLost();
    }
    startNext();
    Q_EMIT turnsChanged();
    dropIdle();
}

void OpenConversations::settle(const TurnQueue::Turn& turn, StoredMessage::Status status, const QString& sentence,
                               const engine::Telemetry* numbers)
{
    OpenConversation& conversation = *find(turn.conversation);
    StoredMessage& answer = *conversation.tree.find(turn.answer);
    answer.status = status;
    answer.sentence = sentence;
    if (m_clock.end())
        answer.reasoningMs = m_clock.ms();
    if (numbers) {
        conversation.frame = *numbers;
        const bool wentOn = conversation.before && !conversation.before->text.isEmpty() && answer.tokens;
        answer.tokens = (wentOn ? *answer.tokens : 0) + numbers->generated_tokens;
        answer.ttftMs = wentOn ? answer.ttftMs : numbers->ttft_ms;
        if (numbers->decode_tokens_per_s)
            answer.tokensPerSecond = numbers->decode_tokens_per_s;
        conversation.tokens.insert(answer.id, *answer.tokens);
    }
    conversation.header.changedMs = nowMs();
    save(conversation, answer.parent);  // with the tokens it turned out to have
    save(conversation, answer.id);
    save(conversation);
    conversation.answer.clear();
    setPhase(conversation, OpenConversation::Phase::Idle);
    Q_EMIT numbersChanged(turn.conversation);
    Q_EMIT messagesChanged(turn.conversation);
    Q_EMIT contextChanged(turn.conversation);
}
