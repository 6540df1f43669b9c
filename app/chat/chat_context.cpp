#include "app/chat/chat_context.h"

#include "app/attachments/prompt_text.h"
#include "engine/machine.h"

#include <algorithm>
#include <utility>

namespace {

constexpr int kCountAfterMs = 300;  // of rest: while the user types, no numbers are needed

}  // namespace

ChatContext::ChatContext(EngineThread& engine, ShownConversation& shown, OpenConversations& open, TurnRunner& turns,
                         ChatTurn& turn)
    : m_engine(engine)
    , m_shown(shown)
    , m_open(open)
    , m_turns(turns)
    , m_turn(turn)
    , m_counter(engine)
{
    m_countTimer.setSingleShot(true);
    m_countTimer.setInterval(kCountAfterMs);
    connect(&m_countTimer, &QTimer::timeout, this, &ChatContext::recount);
    connect(&shown, &ShownConversation::contextChanged, this, &ChatContext::changed);
    connect(&shown, &ShownConversation::promptChanged, &m_countTimer, qOverload<>(&QTimer::start));
    connect(&shown, &ShownConversation::turnEnded, this, [this] {
        m_countTimer.start();
        countUnanswered();
    });
    connect(&turns, &TurnRunner::turnBegan, this, &ChatContext::stopCounting);
    connect(engine.worker(), &EngineWorker::promptCounted, this, &ChatContext::onPromptCounted);
}

bool ChatContext::canDropOldest() const
{
    const std::optional<engine::ModelInfo>& model = m_turns.model();
    const bool readsThem = model && model->has_chat_template;  // without one it reads the last question only
    return readsThem && !oldestTurns(*m_shown, tokens()).isEmpty();
}

std::optional<LargerContext> ChatContext::larger() const
{
    if (!m_turns.model())
        return {};
    return ::largerContext(*m_turns.model(), engine::machine_memory().for_next_model_bytes(), m_shown->tooLongTokens);
}

int ChatContext::largerTokens() const
{
    const auto found = larger();
    return found ? found->tokens : 0;
}

double ChatContext::largerBytes() const
{
    const auto found = larger();
    return found ? double(found->bytes) : 0;
}

void ChatContext::dropOldest()
{
    if (!canDropOldest())
        return;  // also while a model loads: how much it holds is not known yet
    for (const QStringList turns = oldestTurns(*m_shown, tokens()); const QString& id : turns)
        m_shown->tree.find(id)->leftOut = true;
    const bool full = m_shown->contextFull;
    m_shown->contextFull = m_shown->onceFull = m_shown->contextNearlyFull = false;
    m_shown->goOnWhenFull = m_shown->busy();  // a running answer still has them in its context
    m_open.saveAll(*m_shown);
    Q_EMIT m_shown.messagesChanged();
    m_shown.contextIsDifferent();
    if (full && m_turn.canSend())
        m_turn.goOnWithWhatWasCut();
}

void ChatContext::bringBack(const QString& id)
{
    const QList<const StoredMessage*> path = m_shown->tree.path();
    const auto at = std::find_if(path.begin(), path.end(), [&](const StoredMessage* m) { return m->id == id; });
    if (at == path.end())
        return;
    // Finds the end of the row of left-out messages that this message is in, or that ends just above it.
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
    Q_EMIT m_shown.messagesChanged();
    m_shown.contextIsDifferent();
}

void ChatContext::raise()
{
    const auto found = larger();
    if (!found)
        return;
    const auto stopping = [](const OpenConversation& one) { return one.phase == OpenConversation::Phase::Stopping; };
    QList<ChatTurn::Cut> goOn;
    const auto cut = [&goOn](const OpenConversation& one) { goOn.append({one.header.id, one.cutAnswers()}); };
    if (m_shown->contextFull || (m_shown->busy() && !m_turn.queued() && !stopping(*m_shown)))
        cut(*m_shown);
    for (const QStringList answered = m_turns.answered(); const QString& id : answered)
        if (id != m_shown.id() && !stopping(*m_open.find(id)))
            cut(*m_open.find(id));  // the load cuts it as well
    dismissNotice();
    m_turn.goOnAfterLoad(goOn);
    Q_EMIT reloadRequested(found->tokens);
}

void ChatContext::dismissNotice()
{
    m_shown->contextFull = m_shown->contextNearlyFull = false;
    Q_EMIT m_shown.contextChanged();
}

void ChatContext::recount()
{
    if (!m_turns.model() || m_shown->busy())
        return;  // its turn brings its own count
    if (std::exchange(m_counting, true)) {
        m_countAgain = true;  // one at a time: a long prompt takes the engine a while
        return;
    }
    m_countedOf = m_shown.id();
    m_counted = m_turns.nextRequest(*m_shown);
    m_countStop = {};
    m_engine.countPrompt(++m_countJob, m_counted.request, m_countStop.get_token());
}

/// Stops counting when a turn begins, which shall not wait for it. If the count was for another conversation than the
/// turn's, it is made again later.
void ChatContext::stopCounting()
{
    m_countStop.request_stop();
    m_countAgain = m_counting;
}

/// Counts a question that did not fit, to learn whether it ever can. Where it is longer than the whole context has room
/// for, making room is not offered.
void ChatContext::countUnanswered()
{
    const StoredMessage* const answer = m_shown->last();
    const StoredMessage* const question = answer ? m_shown->tree.find(answer->parent) : nullptr;
    if (!question || !m_shown->contextFull || answer->status != StoredMessage::Status::Failed)
        return;
    m_counter.count(promptText(question->text, question->attachments), this,
                    [this, id = m_shown.id(), asked = answer->id](std::optional<int> tokens) {
                        if (id != m_shown.id() || m_shown->tree.leaf() != asked || m_shown->busy() || !tokens ||
                            *tokens < m_turns.contextTokens() - m_shown->ledger.systemTokens)
                            return;
                        m_shown->tooLongTokens = *tokens;
                        Q_EMIT m_shown.contextChanged();
                    });
}

void ChatContext::onPromptCounted(quint64 job, const std::optional<engine::PromptLedger>& ledger)
{
    if (job != m_countJob)
        return;
    m_counting = false;
    if (std::exchange(m_countAgain, false))
        m_countTimer.start();
    if (m_countStop.stop_requested() || m_countedOf != m_shown.id() || m_shown->busy() || !m_turns.model())
        return;
    if (ledger)
        m_shown->take(*ledger, m_counted.ids, m_counted.request, m_turns.contextTokens());
    else
        m_shown->ledger = {};
    const ContextLedger& next = m_shown->ledger;
    if (next.known)
        m_shown->frame.context_tokens = next.total();  // includes the tokens that end the last answer
    // While the timer runs, this count is of an older prompt, and the next one decides. A server elsewhere counts
    // nothing: then the context is full if the last answer ended because it was full.
    if (!m_countTimer.isActive() && std::exchange(m_shown->onceFull, false))
        m_shown->contextFull = !next.known || next.total() + next.answerReserve > next.limit;
    m_shown->frame.context_limit = m_turns.contextTokens();  // known also where a template refuses the prompt
    Q_EMIT m_shown.numbersChanged();
    Q_EMIT m_shown.messagesChanged();
    Q_EMIT m_shown.contextChanged();
}

#include "moc_chat_context.cpp"
