#include "app/chat/turn_runner.h"

#include "app/catalogue/model_facts.h"
#include "app/chat/saved_note.h"
#include "app/worker/error_sentence.h"

#include <utility>

namespace {

constexpr int kSaveIntervalMs = 1000;

}  // namespace

TurnRunner::TurnRunner(EngineThread& engine, ConversationStore& store, OpenConversations& open, engine::Request options)
    : m_engine(engine)
    , m_store(store)
    , m_open(open)
    , m_options(std::move(options))
{
    const EngineWorker* worker = engine.worker();
    connect(worker, &EngineWorker::promptReady, this, &TurnRunner::onPrompt);
    connect(worker, &EngineWorker::textReady, this, &TurnRunner::onText);
    connect(worker, &EngineWorker::telemetryReady, this, &TurnRunner::onTelemetry);
    connect(worker, &EngineWorker::contextNearlyFull, this, &TurnRunner::onNearlyFull);
    connect(worker, &EngineWorker::savedKvUsed, this, &TurnRunner::onSavedKv);
    connect(worker, &EngineWorker::finished, this, &TurnRunner::onFinished);
    connect(worker, &EngineWorker::failed, this, &TurnRunner::onFailed);
    connect(worker, &EngineWorker::finishedBeside, this, &TurnRunner::onFinished);
    connect(worker, &EngineWorker::failedBeside, this, &TurnRunner::onFailed);
    m_saveTimer.setInterval(kSaveIntervalMs);
    connect(&m_saveTimer, &QTimer::timeout, this, &TurnRunner::saveText);
}

TurnRunner::~TurnRunner()
{
    m_making.stop();
    saveText();  // kept as those that were interrupted
    OpenConversation* const conversation = running();
    if (!conversation)
        return;
    for (const StoredMessage* cut : m_making.endAll(conversation->tree))
        m_open.save(*conversation, cut->id);
}

void TurnRunner::forget(const QString& id)
{
    const TurnQueue::Turn* const turn = m_queue.running();
    if (turn && turn->conversation == id)
        m_making.stop();
    m_queue.forget(id);
    m_pinned.forget(id);
    m_guessed.forget(id);
    m_engine.endConversation(id);
    m_open.forget(id);
    Q_EMIT activityChanged(id, ConversationActivity::Idle);
}

void TurnRunner::answer(OpenConversation& conversation, const QString& question, int versions)
{
    QStringList answers;
    conversation.before.reset();
    for (int i = 0; i < versions; ++i)
        if (const StoredMessage answer = newAnswer(newId(), question); conversation.tree.add(answer))
            answers.append(answer.id);
    if (answers.isEmpty())
        return;
    conversation.tree.showPathThrough(answers.first());
    enqueue(conversation, answers);
}

void TurnRunner::answerAgain(OpenConversation& conversation, const QString& id)
{
    StoredMessage* const answer = conversation.tree.find(id);
    if (!answer)
        return;
    conversation.before = *answer;
    *answer = newAnswer(id, answer->parent);
    enqueue(conversation, {id});
}

void TurnRunner::goOn(OpenConversation& conversation, const QString& id)
{
    StoredMessage* const answer = conversation.tree.find(id);
    if (!answer)
        return;
    conversation.before = *answer;
    answer->status = StoredMessage::Status::Streaming;
    answer->sentence.clear();
    enqueue(conversation, {id});
}

void TurnRunner::stop(OpenConversation& conversation)
{
    using Phase = OpenConversation::Phase;
    if (conversation.phase == Phase::Queued && m_queue.removeWaiting(conversation.header.id)) {
        unqueue(conversation, {});
    } else if (conversation.phase == Phase::Reading || conversation.phase == Phase::Answering) {
        m_making.stop();
        setPhase(conversation, Phase::Stopping);
    }
}

void TurnRunner::stop(OpenConversation& conversation, const QString& answer)
{
    if (running() == &conversation)
        m_making.stop(answer);
}

void TurnRunner::stopAll()
{
    const QList<TurnQueue::Turn> waiting = m_queue.waiting();  // stopping takes them out
    for (const TurnQueue::Turn& turn : waiting)
        if (OpenConversation* const conversation = m_open.find(turn.conversation))
            stop(*conversation);
    if (const TurnQueue::Turn* const turn = m_queue.running())
        stop(*m_open.find(turn->conversation));
}

void TurnRunner::onLoadStarted()
{
    if (OpenConversation* const conversation = running())
        stop(*conversation);
    m_modelAside = false;
    m_loading = true;
    m_model.reset();
    Q_EMIT modelChanged();
}

void TurnRunner::onModelReady(const engine::ModelInfo& model)
{
    m_loading = false;
    m_model = model;
    startNext();
    Q_EMIT modelChanged();
}

void TurnRunner::onModelGone()
{
    m_loading = false;
    m_model.reset();
    const QList<TurnQueue::Turn> waiting = m_queue.removeAllWaiting();
    for (const TurnQueue::Turn& turn : waiting)
        if (OpenConversation* const conversation = m_open.find(turn.conversation))
            unqueue(*conversation, tr("The model was closed before this could be answered."));
    Q_EMIT modelChanged();
}

void TurnRunner::onModelAside()
{
    m_modelAside = true;
    Q_EMIT modelChanged();
}

ChatRequest TurnRunner::nextRequest(const OpenConversation& conversation) const
{
    const auto reads = m_model && !m_model->has_chat_template ? ModelReads::Text : ModelReads::Messages;
    ChatRequest next = ::nextRequest(m_options, conversation.header.settings, conversation.tree.path(), reads);
    next.request.saved_as = conversation.header.id.toStdString();  // its answers count as they were made
    return next;
}

void TurnRunner::enqueue(OpenConversation& conversation, const QStringList& answers)
{
    conversation.answers = answers;
    conversation.contextFull = false;
    conversation.contextNearlyFull = false;
    conversation.goOnWhenFull = false;
    conversation.frame = {};
    setSavedNote(conversation, {});
    m_queue.add(conversation.header.id, answers);
    setPhase(conversation, OpenConversation::Phase::Queued);
    Q_EMIT contextChanged(conversation.header.id);
    startNext();
    Q_EMIT messagesChanged(conversation.header.id);
}

void TurnRunner::startNext()
{
    if (!m_model || m_loading)
        return;
    const std::optional<TurnQueue::Turn> turn = m_queue.startNext();
    if (!turn)
        return;
    if (OpenConversation* const conversation = m_open.find(turn->conversation))
        begin(*turn, *conversation);
    for (const TurnQueue::Turn& other : m_queue.waiting())
        Q_EMIT phaseChanged(other.conversation);  // one place further
}

void TurnRunner::begin(const TurnQueue::Turn& turn, OpenConversation& conversation)
{
    const StoredMessage& first = *conversation.tree.find(turn.answers.first());
    const auto reads = m_model->has_chat_template ? ModelReads::Messages : ModelReads::Text;
    const auto path = conversation.tree.pathTo(first.text.isEmpty() ? first.parent : first.id);
    m_asked = chatRequest(m_options, conversation.header.settings, path, reads);
    m_open.save(conversation);
    m_making.clear();
    std::vector<AskedAnswer> asked;
    for (const QString& id : turn.answers) {
        StoredMessage& answer = *conversation.tree.find(id);
        answer.model = ModelFacts(*m_model).name;
        const quint64 number = turn.number + asked.size();
        m_guessed.begin(turn.conversation, id, answer.text.size());
        m_open.save(conversation, id);
        asked.push_back({number, id, requestOf(turn, asked.size()), m_making.begin(number, answer)});
    }
    m_saveTimer.start();
    setPhase(conversation, OpenConversation::Phase::Reading);
    Q_EMIT messagesChanged(turn.conversation);
    Q_EMIT turnBegan(turn.number, turn.conversation);
    m_engine.answer(turn.conversation, m_asked.ids, asked);
}

/// Versions beside the first choose other tokens, also where the user gave a seed. The conversation's KV is saved for
/// the first alone.
engine::Request TurnRunner::requestOf(const TurnQueue::Turn& turn, std::size_t version) const
{
    engine::Request request = m_asked.request;
    if (version == 0)
        request.saved_as = turn.conversation.toStdString();
    else if (request.sampling.seed)
        *request.sampling.seed += std::uint64_t(version);
    return request;
}

/// Its turn does not come. What was there before is there again; a new answer goes, or says why there is none.
void TurnRunner::unqueue(OpenConversation& conversation, const QString& sentence)
{
    for (const QString& said : conversation.takeAnswersBack(sentence))
        m_open.save(conversation, said);
    setPhase(conversation, OpenConversation::Phase::Idle);
    Q_EMIT messagesChanged(conversation.header.id);
    Q_EMIT turnEnded(conversation.header.id);
    for (const TurnQueue::Turn& other : m_queue.waiting())
        Q_EMIT phaseChanged(other.conversation);
    Q_EMIT turnsChanged();
    m_open.dropIdle();
}

void TurnRunner::setSavedNote(OpenConversation& conversation, const QString& note)
{
    if (std::exchange(conversation.savedNote, note) != note)
        Q_EMIT savedNoteChanged(conversation.header.id);
}

void TurnRunner::setPhase(OpenConversation& conversation, OpenConversation::Phase phase)
{
    if (conversation.phase == phase)
        return;
    const auto before = conversation.activity();
    conversation.phase = phase;
    Q_EMIT phaseChanged(conversation.header.id);
    if (conversation.activity() != before)
        Q_EMIT activityChanged(conversation.header.id, conversation.activity());
}

void TurnRunner::saveText()
{
    if (const OpenConversation* const conversation = running())
        for (const StoredMessage* answer : m_making.grown(conversation->tree))
            m_store.saveText(conversation->header.id, answer->id, answer->text);
}

OpenConversation* TurnRunner::running() const
{
    const TurnQueue::Turn* const turn = m_queue.running();
    return turn ? m_open.find(turn->conversation) : nullptr;
}

OpenConversation* TurnRunner::running(quint64 number) const
{
    const TurnQueue::Turn* const turn = m_queue.running(number);
    return turn ? m_open.find(turn->conversation) : nullptr;
}

bool TurnRunner::leads(quint64 number) const
{
    const TurnQueue::Turn* const turn = m_queue.running();
    return turn && turn->number == number;
}

/// What happens to the context is told of this one.
bool TurnRunner::isShown(const OpenConversation& conversation, quint64 number) const
{
    return conversation.tree.leaf() == m_making.message(number);
}

void TurnRunner::togglePin(OpenConversation& conversation, const QString& message)
{
    m_pinned.toggle(conversation.header.id, message);
    if (m_ranLast == conversation.header.id)
        postPins(conversation);  // else when it runs
    Q_EMIT pinsChanged(conversation.header.id);
}

void TurnRunner::postPins(const OpenConversation& conversation)
{
    m_engine.worker()->post(engine::SetPins{m_pinned.tokens(conversation.header.id, conversation.places)});
}

void TurnRunner::onPrompt(quint64 turn, const engine::PromptLedger& ledger)
{
    OpenConversation* const conversation = running(turn);
    if (!conversation)
        return;
    StoredMessage& answer = *conversation->tree.find(m_making.message(turn));
    answer.promptTokens = ledger.total_tokens;
    answer.templateTokens = ledger.template_tokens;
    if (!leads(turn)) {
        Q_EMIT messagesChanged(conversation->header.id);
        return;  // the prompt is the same
    }
    conversation->take(ledger, m_asked.ids, m_asked.request, contextTokens());
    conversation->places[answer.id] = {ledger.total_tokens, contextTokens()};  // as far as it comes
    m_ranLast = conversation->header.id;
    if (!pinned(m_ranLast).isEmpty())
        postPins(*conversation);  // their places may be others than last time
    for (const int dropped : ledger.dropped_messages)
        m_open.save(*conversation, m_asked.ids.value(dropped));
    Q_EMIT tokensPlaced(conversation->header.id, conversation->messageTokens());
    Q_EMIT messagesChanged(conversation->header.id);
    Q_EMIT contextChanged(conversation->header.id);
}

void TurnRunner::onText(quint64 turn, const QString& text)
{
    OpenConversation* const conversation = running(turn);
    if (!conversation || text.isEmpty())
        return;
    StoredMessage& answer = *conversation->tree.find(m_making.message(turn));
    const bool thought = m_making.add(turn, text, answer);
    if (conversation->phase == OpenConversation::Phase::Reading)
        setPhase(*conversation, OpenConversation::Phase::Answering);
    Q_EMIT textAdded(conversation->header.id, answer.id, text);
    if (!thought)
        return;
    m_open.save(*conversation, answer.id);
    Q_EMIT messagesChanged(conversation->header.id);
}

void TurnRunner::onTelemetry(quint64 turn, const engine::Telemetry& frame)
{
    OpenConversation* const conversation = running(turn);
    if (!conversation)
        return;
    conversation->frame = frame;
    Q_EMIT numbersChanged(conversation->header.id);
}

void TurnRunner::onNearlyFull(quint64 turn)
{
    OpenConversation* const conversation = running(turn);
    if (!conversation || conversation->goOnWhenFull || !isShown(*conversation, turn))
        return;
    conversation->contextNearlyFull = true;
    Q_EMIT contextChanged(conversation->header.id);
}

void TurnRunner::onSavedKv(quint64 turn, const engine::Event& event)
{
    OpenConversation* const conversation = running(turn);
    if (conversation && leads(turn))
        setSavedNote(*conversation, savedNote(event));
}

void TurnRunner::onFinished(quint64 number, const engine::Turn& result)
{
    if (const std::optional<TurnQueue::Turn> turn = m_queue.end(number)) {
        OpenConversation& conversation = *m_open.find(turn->conversation);
        const bool full = result.reason == engine::StopReason::ContextFull;
        const bool goesOn = full && conversation.goOnWhenFull && turn->answers.size() == 1;
        if (isShown(conversation, number)) {
            conversation.contextFull = full;
            conversation.tooLongTokens = 0;
            conversation.contextNearlyFull = conversation.contextNearlyFull && !full;
        }
        m_guessed.end(turn->conversation, m_making.message(number), result);
        settle(*turn, number, statusAfter(result.reason), {}, &result.telemetry);
        if (goesOn)
            goOn(conversation, turn->answers.first());
        else if (!conversation.busy())
            Q_EMIT turnEnded(turn->conversation);
    }
    startNextAfterAnswer();
}

void TurnRunner::onFailed(quint64 number, const engine::Error& error)
{
    using Code = engine::Error::Code;
    if (const std::optional<TurnQueue::Turn> turn = m_queue.end(number)) {
        OpenConversation& conversation = *m_open.find(turn->conversation);
        if (isShown(conversation, number)) {
            conversation.contextFull = error.code == Code::ContextFull;
            conversation.tooLongTokens = 0;
            conversation.contextNearlyFull = false;
        }
        if (error.code == Code::Cancelled)
            settle(*turn, number, StoredMessage::Status::Stopped, {}, nullptr);
        else
            settle(*turn, number, StoredMessage::Status::Failed, errorSentence(error), nullptr);
        if (!conversation.busy())
            Q_EMIT turnEnded(turn->conversation);
    }
    if (m_model && (error.code == Code::CannotRead || error.code == Code::NotLoaded)) {
        onModelGone();
        Q_EMIT modelLost();
    }
    startNextAfterAnswer();
}

void TurnRunner::startNextAfterAnswer()
{
    startNext();
    if (!m_queue.busy())
        m_saveTimer.stop();
    Q_EMIT turnsChanged();
    m_open.dropIdle();
}

void TurnRunner::settle(const TurnQueue::Turn& turn, quint64 number, StoredMessage::Status status,
                        const QString& sentence, const engine::Telemetry* numbers)
{
    OpenConversation& conversation = *m_open.find(turn.conversation);
    StoredMessage& answer = *conversation.tree.find(m_making.message(number));
    answer.status = status;
    answer.sentence = sentence;
    if (numbers)
        conversation.takeNumbers(answer, *numbers);
    if (numbers && isShown(conversation, number))
        conversation.frame = *numbers;
    m_making.end(number, answer);
    conversation.header.changedMs = nowMs();
    m_open.save(conversation, answer.parent);  // with the tokens it turned out to have
    m_open.save(conversation, answer.id);
    m_open.save(conversation);
    conversation.answers.removeOne(answer.id);
    if (conversation.answers.isEmpty())
        setPhase(conversation, OpenConversation::Phase::Idle);
    Q_EMIT numbersChanged(turn.conversation);
    Q_EMIT messagesChanged(turn.conversation);
    Q_EMIT contextChanged(turn.conversation);
}
