// ChatController: what fills the context, and what is done when it is full.
#include "app/chat/chat_controller.h"

#include "app/attachments/prompt_text.h"
#include "engine/machine.h"

#include <algorithm>
#include <utility>

std::optional<LargerContext> ChatController::larger() const
{
    if (!m_open.model())
        return {};
    return ::largerContext(*m_open.model(), engine::machine_memory().for_next_model_bytes(), m_shown->tooLongTokens);
}

int ChatController::largerContext() const
{
    const auto found = larger();
    return found ? found->tokens : 0;
}

double ChatController::largerContextBytes() const
{
    const auto found = larger();
    return found ? double(found->bytes) : 0;
}

void ChatController::dropOldest()
{
    const QStringList turns = oldestTurns(*m_shown, m_open.contextTokens());
    if (turns.isEmpty())
        return;
    for (const QString& id : turns)
        m_shown->tree.find(id)->leftOut = true;
    const bool full = m_shown->contextFull;
    m_shown->contextFull = m_shown->contextNearlyFull = false;
    m_shown->goOnWhenFull = busy();  // what runs still has them in its context
    m_open.saveAll(*m_shown);
    showMessages();
    contextIsDifferent();
    if (full && canSend())
        goOnWithWhatWasCut(*m_shown);
}

void ChatController::bringBack(const QString& id)
{
    const QList<const StoredMessage*> path = m_shown->tree.path();
    const auto at = std::find_if(path.begin(), path.end(), [&](const StoredMessage* m) { return m->id == id; });
    if (at == path.end())
        return;
    // The run that the message is in, or that ends above it.
    auto last = (*at)->leftOut ? std::find_if(at, path.end(), [](const StoredMessage* m) { return !m->leftOut; }) : at;
    bool any = false;
    while (last != path.begin() && (*(last - 1))->leftOut) {
        --last;
        m_shown->tree.find((*last)->id)->leftOut = false;
        any = true;
    }
    if (!any)
        return;
    m_open.saveAll(*m_shown);
    showMessages();
    contextIsDifferent();
}

void ChatController::raiseContext()
{
    const auto found = larger();
    if (!found)
        return;
    const bool cut = m_shown->contextFull || (busy() && !queued());
    const QString goesOn = cut ? conversationId() : QString();
    dismissContextNotice();
    m_goesOnAfterLoad = goesOn;
    Q_EMIT reloadRequested(found->tokens);
}

void ChatController::togglePin(const QString& message)
{
    m_open.togglePin(*m_shown, message.isEmpty() ? PinnedMessages::kSystemPrompt : message);
}

void ChatController::dismissContextNotice()
{
    m_shown->contextFull = m_shown->contextNearlyFull = false;
    Q_EMIT contextChanged();
}

/// What was measured last does not hold for the next turn.
void ChatController::contextIsDifferent()
{
    if (!busy())
        m_shown->frame = {};
    Q_EMIT contextChanged();
    m_countTimer.start();
}

void ChatController::recount()
{
    if (!m_open.model() || busy())
        return;  // its turn brings its own count
    if (std::exchange(m_counting, true)) {
        m_countAgain = true;  // one at a time: a long prompt takes the engine a while
        return;
    }
    m_countedOf = conversationId();
    m_counted = m_open.nextRequest(*m_shown);
    m_countStop = {};
    m_engine.countPrompt(++m_countJob, m_counted.request, m_countStop.get_token());
}

/// For a turn, which is not to wait until a prompt is counted. What is counted for another conversation than the turn's
/// is counted later.
void ChatController::stopCounting()
{
    m_countStop.request_stop();
    m_countAgain = m_counting;
}

/// Of a question that did not fit it is asked whether it ever can: then choices that make room are none.
void ChatController::countUnanswered()
{
    const StoredMessage* const answer = m_shown->last();
    const StoredMessage* const question = answer ? m_shown->tree.find(answer->parent) : nullptr;
    if (!question || !m_shown->contextFull || answer->status != StoredMessage::Status::Failed)
        return;
    m_counter.count(promptText(question->text, question->attachments), this,
                    [this, id = conversationId(), asked = answer->id](std::optional<int> tokens) {
                        if (id != conversationId() || m_shown->tree.leaf() != asked || busy() || !tokens ||
                            *tokens < m_open.contextTokens() - m_shown->ledger.systemTokens)
                            return;
                        m_shown->tooLongTokens = *tokens;
                        Q_EMIT contextChanged();
                    });
}

void ChatController::onPromptCounted(quint64 job, const std::optional<engine::PromptLedger>& ledger)
{
    if (job != m_countJob)
        return;
    m_counting = false;
    if (std::exchange(m_countAgain, false))
        m_countTimer.start();
    if (m_countStop.stop_requested() || m_countedOf != conversationId() || busy() || !m_open.model())
        return;
    if (ledger)
        m_shown->take(*ledger, m_counted.ids, m_counted.request, m_open.contextTokens());
    else
        m_shown->ledger = {};
    if (m_shown->ledger.known)  // the next prompt holds what ends the last answer, too
        m_shown->frame.context_tokens = m_shown->ledger.total();
    m_shown->frame.context_limit = m_open.contextTokens();  // known, also where a template refuses to be counted
    m_telemetry.show(m_shown->frame);
    showMessages();
    Q_EMIT contextChanged();
}
