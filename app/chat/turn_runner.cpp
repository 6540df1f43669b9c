#include "app/chat/turn_runner.h"

#include "app/catalogue/model_facts.h"
#include "app/chat/saved_note.h"
#include "app/worker/error_sentence.h"

#include <utility>

namespace {

constexpr int kSaveIntervalMs = 1000;

/// Returns the names of the models that wrote an answer, in that order, once `model` goes on with it.
QString writersOf(const StoredMessage& answer, const QString& model)
{
    const QString separator = QStringLiteral(", ");
    if (answer.text.isEmpty() || answer.model.isEmpty())
        return model;
    const bool wroteLast = answer.model == model || answer.model.endsWith(separator + model);
    return wroteLast ? answer.model : answer.model + separator + model;
}

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
    connect(worker, &EngineWorker::telemetryBeside, this, &TurnRunner::tellNumbers);
    connect(worker, &EngineWorker::finishedBeside, this, &TurnRunner::onFinished);
    connect(worker, &EngineWorker::failedBeside, this, &TurnRunner::onFailed);
    m_saveTimer.setInterval(kSaveIntervalMs);
    connect(&m_saveTimer, &QTimer::timeout, this, &TurnRunner::saveText);
}

TurnRunner::~TurnRunner()
{
    for (auto& [number, running] : m_running)
        running.making.stop();
    saveText();  // the next start shows these answers as interrupted
    for (const TurnQueue::Turn& turn : m_queue.running()) {
        OpenConversation& conversation = *m_open.find(turn.conversation);
        for (const StoredMessage* cut : m_running.at(turn.number).making.endAll(conversation.tree))
            m_open.save(conversation, cut->id);
    }
}

void TurnRunner::forget(const QString& id)
{
    if (const TurnQueue::Turn* const turn = m_queue.runningOf(id))
        breakOff(*turn);
    m_queue.forget(id);
    m_pinned.forget(id);
    m_guessed.forget(id);
    m_engine.endConversation(id);
    m_open.forget(id);
    tellThoseThatWait();
    Q_EMIT activityChanged(id, ConversationActivity::Idle);
    Q_EMIT turnsChanged();
}

/// Stops the turn of a conversation that was thrown away. Saves what has come: it is there if the conversation is
/// restored.
void TurnRunner::breakOff(const TurnQueue::Turn& turn)
{
    Running& running = m_running.at(turn.number);
    OpenConversation& conversation = *m_open.find(turn.conversation);
    running.making.stop();
    running.making.endAll(conversation.tree);
    for (const QString& id : turn.answers) {
        StoredMessage* const answer = conversation.tree.find(id);
        if (!answer || answer->status != StoredMessage::Status::Streaming)
            continue;
        answer->status = StoredMessage::Status::Stopped;
        if (turn.answers.size() == 1 && conversation.frame.generated_tokens > 0)
            conversation.takeNumbers(*answer, conversation.frame);
        m_open.save(conversation, id);
    }
}

void TurnRunner::answer(OpenConversation& conversation, const QString& question, int versions)
{
    QStringList answers;
    conversation.before.clear();
    for (int i = 0; i < versions; ++i)
        if (const StoredMessage answer = newAnswer(newId(), question); conversation.tree.add(answer))
            answers.append(answer.id);
    if (answers.isEmpty())
        return;
    conversation.tree.showPathThrough(answers.first());
    enqueue(conversation, answers);
}

void TurnRunner::goOn(OpenConversation& conversation, const QStringList& answers)
{
    QStringList known;
    conversation.before.clear();
    for (const QString& id : answers) {
        StoredMessage* const answer = conversation.tree.find(id);
        if (!answer)
            continue;
        known.append(id);
        conversation.before.insert(id, *answer);
        if (answer->text.isEmpty())
            *answer = newAnswer(id, answer->parent);
        answer->status = StoredMessage::Status::Streaming;
        answer->sentence.clear();
    }
    if (!known.isEmpty())
        enqueue(conversation, known);
}

void TurnRunner::stop(OpenConversation& conversation)
{
    using Phase = OpenConversation::Phase;
    if (conversation.phase == Phase::Queued && m_queue.removeWaiting(conversation.header.id)) {
        unqueue(conversation, {});
    } else if (conversation.phase == Phase::Reading || conversation.phase == Phase::Answering) {
        conversation.goOnWhenFull = false;
        runningOf(conversation)->making.stop();
        setPhase(conversation, Phase::Stopping);
    }
}

void TurnRunner::stop(OpenConversation& conversation, const QString& answer)
{
    if (Running* const running = runningOf(conversation))
        running->making.stop(answer);
}

void TurnRunner::stopAll()
{
    const QList<TurnQueue::Turn> waiting = m_queue.waiting();  // a copy: stopping takes them out of the queue
    for (const TurnQueue::Turn& turn : waiting)
        if (OpenConversation* const conversation = m_open.find(turn.conversation))
            stop(*conversation);
    stopRunning();
}

void TurnRunner::stopRunning()
{
    for (const QString& id : answered())
        stop(*m_open.find(id));
}

QStringList TurnRunner::answered() const
{
    QStringList ids;
    for (const TurnQueue::Turn& turn : m_queue.running())
        ids.append(turn.conversation);
    return ids;
}

void TurnRunner::onLoadStarted()
{
    stopRunning();
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
    next.request.saved_as = conversation.header.id.toStdString();  // its answers are counted as they were made
    return next;
}

void TurnRunner::enqueue(OpenConversation& conversation, const QStringList& answers)
{
    conversation.answers = answers;
    conversation.contextFull = conversation.onceFull = false;
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
    while (m_model && !m_loading) {
        const std::optional<TurnQueue::Turn> turn = m_queue.startNext(m_mostAtOnce);
        if (!turn)
            return;
        if (OpenConversation* const conversation = m_open.find(turn->conversation))
            begin(*turn, *conversation);
        tellThoseThatWait();
    }
}

/// Tells waiting conversations that their place in the queue may have changed.
void TurnRunner::tellThoseThatWait()
{
    const QList<TurnQueue::Turn> waiting = m_queue.waiting();
    for (const TurnQueue::Turn& turn : waiting)
        Q_EMIT phaseChanged(turn.conversation);
}

void TurnRunner::begin(const TurnQueue::Turn& turn, OpenConversation& conversation)
{
    Running& running = m_running[turn.number];
    running.asked = requestFor(conversation, *conversation.tree.find(turn.answers.first()));
    m_open.save(conversation);
    std::vector<AskedAnswer> asked;
    for (const QString& id : turn.answers) {
        StoredMessage& answer = *conversation.tree.find(id);
        answer.model = writersOf(answer, ModelFacts(*m_model).name);
        const quint64 number = turn.number + asked.size();
        m_guessed.begin(turn.conversation, id, answer.text.size());
        m_open.save(conversation, id);
        engine::Request request = requestFor(conversation, answer).request;
        if (asked.empty())
            request.saved_as = turn.conversation.toStdString();  // only the first answer's KV is saved
        else if (request.sampling.seed)
            *request.sampling.seed += asked.size();  // versions beside it choose other tokens
        asked.push_back({number, id, request, running.making.begin(number, answer)});
    }
    m_saveTimer.start();
    const QStringList ids = running.asked.ids;
    setPhase(conversation, OpenConversation::Phase::Reading);
    Q_EMIT messagesChanged(turn.conversation);
    Q_EMIT turnBegan(turn.number, turn.conversation);
    m_engine.answer(turn.conversation, ids, asked);
}

/// Returns the request for this answer, or for what follows the text that it has.
ChatRequest TurnRunner::requestFor(const OpenConversation& conversation, const StoredMessage& answer) const
{
    const auto reads = m_model->has_chat_template ? ModelReads::Messages : ModelReads::Text;
    const auto path = conversation.tree.pathTo(answer.text.isEmpty() ? answer.parent : answer.id);
    return chatRequest(m_options, conversation.header.settings, path, reads);
}

/// Ends a waiting turn that was taken out of the queue. Answers that existed before are as they were; new ones are
/// removed or, with a sentence, say why they failed.
void TurnRunner::unqueue(OpenConversation& conversation, const QString& sentence)
{
    for (const QString& said : conversation.takeAnswersBack(sentence))
        m_open.save(conversation, said);
    setPhase(conversation, OpenConversation::Phase::Idle);
    Q_EMIT messagesChanged(conversation.header.id);
    Q_EMIT turnEnded(conversation.header.id);
    tellThoseThatWait();
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
    for (const TurnQueue::Turn& turn : m_queue.running())
        for (const StoredMessage* answer : m_running.at(turn.number).making.grown(m_open.find(turn.conversation)->tree))
            m_store.saveText(turn.conversation, answer->id, answer->text);
}

OpenConversation* TurnRunner::answeredBy(quint64 turn) const
{
    const TurnQueue::Turn* const its = m_queue.running(turn);
    return its ? m_open.find(its->conversation) : nullptr;
}

TurnRunner::Running* TurnRunner::runningOf(const OpenConversation& conversation)
{
    const TurnQueue::Turn* const turn = m_queue.runningOf(conversation.header.id);
    return turn ? &m_running.at(turn->number) : nullptr;
}

std::optional<TurnRunner::Owner> TurnRunner::ownerOf(quint64 number)
{
    const TurnQueue::Turn* const turn = m_queue.running(number);
    return turn ? std::optional(ownerOf(*turn, number)) : std::nullopt;
}

TurnRunner::Owner TurnRunner::ownerOf(const TurnQueue::Turn& turn, quint64 number)
{
    OpenConversation& conversation = *m_open.find(turn.conversation);
    Running& running = m_running.at(turn.number);
    StoredMessage& answer = *conversation.tree.find(running.making.message(number));
    return {conversation, running, answer, turn.number == number, conversation.tree.leaf() == answer.id};
}

void TurnRunner::togglePin(OpenConversation& conversation, const QString& message)
{
    m_pinned.toggle(conversation.header.id, message);
    pinPlaces(conversation);
    Q_EMIT pinsChanged(conversation.header.id);
}

/// Pins the tokens of the pinned messages. Which tokens these are is known once the engine has read them: before that,
/// nothing is pinned.
void TurnRunner::pinPlaces(const OpenConversation& conversation)
{
    m_engine.pin(conversation.header.id, m_pinned.tokens(conversation.header.id, conversation.places));
}

void TurnRunner::onPrompt(quint64 turn, const engine::PromptLedger& ledger)
{
    const std::optional<Owner> owner = ownerOf(turn);
    if (!owner)
        return;
    OpenConversation& conversation = owner->conversation;
    const QString id = conversation.header.id;
    owner->answer.promptTokens = ledger.total_tokens;
    owner->answer.templateTokens = ledger.template_tokens;
    if (!owner->leads) {
        Q_EMIT messagesChanged(id);
        return;  // the turn's prompt is its first answer's; this one adds only the text it has already
    }
    const ChatRequest& asked = owner->running.asked;
    conversation.take(ledger, asked.ids, asked.request, contextTokens());
    conversation.places[owner->answer.id] = {ledger.total_tokens, contextTokens()};  // its end is not known yet
    if (!pinned(id).isEmpty())
        pinPlaces(conversation);  // their places may be others than last time
    for (const int dropped : ledger.dropped_messages)
        m_open.save(conversation, asked.ids.value(dropped));
    Q_EMIT tokensPlaced(id, conversation.messageTokens());
    Q_EMIT messagesChanged(id);
    Q_EMIT contextChanged(id);
}

void TurnRunner::onText(quint64 turn, const QString& text)
{
    const std::optional<Owner> owner = ownerOf(turn);
    if (!owner || text.isEmpty())
        return;
    OpenConversation& conversation = owner->conversation;
    const bool thought = owner->running.making.add(turn, text, owner->answer);
    if (conversation.phase == OpenConversation::Phase::Reading)
        setPhase(conversation, OpenConversation::Phase::Answering);
    Q_EMIT textAdded(conversation.header.id, owner->answer.id, text);
    if (!thought)
        return;
    m_open.save(conversation, owner->answer.id);
    Q_EMIT messagesChanged(conversation.header.id);
}

void TurnRunner::onTelemetry(quint64 turn, const engine::Telemetry& frame)
{
    OpenConversation* const conversation = answeredBy(turn);
    if (!conversation)
        return;
    conversation->frame = frame;
    Q_EMIT numbersChanged(conversation->header.id);
    tellNumbers(turn, frame);
}

void TurnRunner::tellNumbers(quint64 turn, const engine::Telemetry& frame)
{
    if (const std::optional<Owner> owner = ownerOf(turn))
        Q_EMIT answerMeasured(owner->conversation.header.id, owner->answer.id, frame.decode_tokens_per_s);
}

void TurnRunner::onNearlyFull(quint64 turn)
{
    const std::optional<Owner> owner = ownerOf(turn);
    if (!owner || owner->conversation.goOnWhenFull || !owner->shown)
        return;
    owner->conversation.contextNearlyFull = true;
    Q_EMIT contextChanged(owner->conversation.header.id);
}

void TurnRunner::onSavedKv(quint64 turn, const engine::Event& event)
{
    const std::optional<Owner> owner = ownerOf(turn);
    if (owner && owner->leads)
        setSavedNote(owner->conversation, savedNote(event));
}

void TurnRunner::onFinished(quint64 number, const engine::Turn& result)
{
    if (const std::optional<TurnQueue::Turn> turn = m_queue.end(number)) {
        const Owner owner = ownerOf(*turn, number);
        OpenConversation& conversation = owner.conversation;
        const bool full = result.reason == engine::StopReason::ContextFull;
        if (owner.shown) {
            conversation.contextFull = full && !conversation.goOnWhenFull;
            conversation.tooLongTokens = 0;
            conversation.contextNearlyFull = conversation.contextNearlyFull && !full;
        }
        m_guessed.end(turn->conversation, owner.answer.id, result);
        settle(owner, number, statusAfter(result.reason), {}, &result.telemetry);
        goOnWhereRoomWasMade(conversation, turn->answers);
        if (!conversation.busy())
            Q_EMIT turnEnded(turn->conversation);
    }
    startNextAfterAnswer();
}

void TurnRunner::onFailed(quint64 number, const engine::Error& error)
{
    using Code = engine::Error::Code;
    if (const std::optional<TurnQueue::Turn> turn = m_queue.end(number)) {
        const Owner owner = ownerOf(*turn, number);
        OpenConversation& conversation = owner.conversation;
        if (owner.shown) {
            conversation.contextFull = error.code == Code::ContextFull;
            conversation.tooLongTokens = 0;
            conversation.contextNearlyFull = false;
        }
        if (error.code == Code::Cancelled)
            settle(owner, number, StoredMessage::Status::Stopped, {}, nullptr);
        else
            settle(owner, number, StoredMessage::Status::Failed, errorSentence(error), nullptr);
        goOnWhereRoomWasMade(conversation, turn->answers);
        if (!conversation.busy())
            Q_EMIT turnEnded(turn->conversation);
    }
    if (m_model && (error.code == Code::CannotRead || error.code == Code::NotLoaded)) {
        onModelGone();
        Q_EMIT modelLost();
    }
    startNextAfterAnswer();
}

/// Goes on with those answers of an ended turn that filled the context, if room was made in it while they ran.
void TurnRunner::goOnWhereRoomWasMade(OpenConversation& conversation, const QStringList& answers)
{
    if (conversation.busy() || !conversation.goOnWhenFull)
        return;
    QStringList cut;
    for (const QString& id : answers)
        if (const StoredMessage* const answer = conversation.tree.find(id);
            answer && answer->status == StoredMessage::Status::ContextFull)
            cut.append(id);
    goOn(conversation, cut);
}

void TurnRunner::startNextAfterAnswer()
{
    std::erase_if(m_running, [this](const auto& entry) { return !m_queue.busyWith(entry.first); });
    startNext();
    if (!m_queue.busy())
        m_saveTimer.stop();
    Q_EMIT turnsChanged();
    m_open.dropIdle();
}

void TurnRunner::settle(const Owner& owner, quint64 number, StoredMessage::Status status, const QString& sentence,
                        const engine::Telemetry* numbers)
{
    auto& [conversation, running, answer, leads, shown] = owner;
    answer.status = status;
    answer.sentence = sentence;
    if (numbers)
        conversation.takeNumbers(answer, *numbers);
    if (numbers && shown)
        conversation.frame = *numbers;
    running.making.end(number, answer);
    conversation.header.changedMs = nowMs();
    m_open.save(conversation, answer.parent);  // the question: its tokens have been counted meanwhile
    m_open.save(conversation, answer.id);
    m_open.save(conversation);
    conversation.answers.removeOne(answer.id);
    if (conversation.answers.isEmpty())
        setPhase(conversation, OpenConversation::Phase::Idle);
    const QString id = conversation.header.id;
    Q_EMIT numbersChanged(id);
    Q_EMIT messagesChanged(id);
    Q_EMIT contextChanged(id);
}

#include "moc_turn_runner.cpp"
