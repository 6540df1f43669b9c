#include "app/chat/open_conversations.h"

#include "app/catalogue/model_facts.h"

#include <utility>

namespace {

constexpr int kSaveIntervalMs = 1000;

}  // namespace

OpenConversations::OpenConversations(EngineThread& engine, ConversationStore& store, engine::Request options)
    : m_engine(engine)
    , m_store(store)
    , m_options(std::move(options))
{
    const EngineWorker* worker = engine.worker();
    connect(worker, &EngineWorker::promptReady, this, &OpenConversations::onPrompt);
    connect(worker, &EngineWorker::textReady, this, &OpenConversations::onText);
    connect(worker, &EngineWorker::telemetryReady, this, &OpenConversations::onTelemetry);
    connect(worker, &EngineWorker::contextNearlyFull, this, &OpenConversations::onNearlyFull);
    connect(worker, &EngineWorker::savedKvUsed, this, &OpenConversations::onSavedKv);
    connect(worker, &EngineWorker::finished, this, &OpenConversations::onFinished);
    connect(worker, &EngineWorker::failed, this, &OpenConversations::onFailed);
    m_saveTimer.setInterval(kSaveIntervalMs);
    connect(&m_saveTimer, &QTimer::timeout, this, &OpenConversations::saveText);
}

OpenConversations::~OpenConversations()
{
    m_stop.request_stop();
    saveText();  // kept as one that was interrupted
    const TurnQueue::Turn* const turn = m_queue.running();
    OpenConversation* const conversation = turn ? find(turn->conversation) : nullptr;
    if (!conversation || !m_clock.end())
        return;
    conversation->tree.find(turn->answer)->reasoningMs = m_clock.ms();
    save(*conversation, turn->answer);
}

OpenConversation* OpenConversations::find(const QString& id) const
{
    const auto found = m_conversations.find(id);
    return found == m_conversations.end() ? nullptr : found->second.get();
}

OpenConversation* OpenConversations::open(const QString& id)
{
    if (OpenConversation* const known = find(id))
        return known;
    const std::optional<StoredConversation> stored = m_store.conversation(id);
    if (!stored)
        return nullptr;
    auto conversation = std::make_unique<OpenConversation>();
    conversation->header = stored->header;
    conversation->tree = ConversationTree(stored->messages, stored->header.leaf);
    conversation->kept = true;
    const StoredMessage* const last = conversation->last();
    conversation->contextFull = last && last->status == StoredMessage::Status::ContextFull;
    return (m_conversations[id] = std::move(conversation)).get();
}

OpenConversation* OpenConversations::create(const ConversationSettings& settings)
{
    auto conversation = std::make_unique<OpenConversation>();
    conversation->header.id = newId();
    conversation->header.createdMs = conversation->header.changedMs = nowMs();
    conversation->header.settings = settings;
    const QString id = conversation->header.id;
    return (m_conversations[id] = std::move(conversation)).get();
}

void OpenConversations::show(const QString& id)
{
    m_shown = id;
    dropIdle();
}

void OpenConversations::forget(const QString& id)
{
    const TurnQueue::Turn* const turn = m_queue.running();
    if (turn && turn->conversation == id)
        m_stop.request_stop();
    m_queue.forget(id);
    m_pinned.forget(id);
    m_engine.endConversation(id);
    m_conversations.erase(id);
}

void OpenConversations::answer(OpenConversation& conversation, const QString& question)
{
    StoredMessage answer;
    answer.id = newId();
    answer.parent = question;
    answer.role = StoredMessage::Role::Assistant;
    answer.status = StoredMessage::Status::Streaming;
    answer.createdMs = nowMs();
    conversation.before.reset();
    if (conversation.tree.add(answer))
        enqueue(conversation, answer.id);
}

void OpenConversations::answerAgain(OpenConversation& conversation, const QString& id)
{
    StoredMessage* const answer = conversation.tree.find(id);
    if (!answer)
        return;
    conversation.before = *answer;
    StoredMessage fresh;
    fresh.id = id;
    fresh.parent = answer->parent;
    fresh.role = StoredMessage::Role::Assistant;
    fresh.status = StoredMessage::Status::Streaming;
    fresh.createdMs = nowMs();
    *answer = fresh;
    enqueue(conversation, id);
}

void OpenConversations::goOn(OpenConversation& conversation, const QString& id)
{
    StoredMessage* const answer = conversation.tree.find(id);
    if (!answer)
        return;
    conversation.before = *answer;
    answer->status = StoredMessage::Status::Streaming;
    answer->sentence.clear();
    enqueue(conversation, id);
}

void OpenConversations::stop(OpenConversation& conversation)
{
    using Phase = OpenConversation::Phase;
    if (conversation.phase == Phase::Queued && m_queue.removeWaiting(conversation.header.id)) {
        unqueue(conversation, {});
    } else if (conversation.phase == Phase::Reading || conversation.phase == Phase::Answering) {
        m_stop.request_stop();
        setPhase(conversation, Phase::Stopping);
    }
}

void OpenConversations::save(OpenConversation& conversation)
{
    conversation.header.leaf = conversation.tree.leaf();
    conversation.kept = true;
    m_store.save(conversation.header);
}

void OpenConversations::save(OpenConversation& conversation, const QString& message)
{
    if (const StoredMessage* const found = conversation.tree.find(message))
        m_store.save(conversation.header.id, *found);
}

void OpenConversations::saveAll(OpenConversation& conversation)
{
    conversation.header.leaf = conversation.tree.leaf();
    conversation.kept = true;
    m_store.saveAll({conversation.header, conversation.tree.messages()});
}

void OpenConversations::setModel(std::optional<engine::ModelInfo> model)
{
    m_loading = false;
    m_model = std::move(model);
    if (m_model) {
        startNext();
        return;
    }
    const QList<TurnQueue::Turn> waiting = m_queue.removeAllWaiting();
    for (const TurnQueue::Turn& turn : waiting)
        if (OpenConversation* const conversation = find(turn.conversation))
            unqueue(*conversation, tr("The model was closed before this could be answered."));
}

void OpenConversations::setLoading()
{
    const TurnQueue::Turn* const turn = m_queue.running();
    if (OpenConversation* const conversation = turn ? find(turn->conversation) : nullptr)
        stop(*conversation);
    m_loading = true;
    m_model.reset();
}

ChatRequest OpenConversations::nextRequest(const OpenConversation& conversation) const
{
    const auto reads = m_model && !m_model->has_chat_template ? ModelReads::Text : ModelReads::Messages;
    return ::nextRequest(m_options, conversation.header.settings, conversation.tree.path(), reads);
}

void OpenConversations::enqueue(OpenConversation& conversation, const QString& answer)
{
    conversation.answer = answer;
    conversation.contextFull = false;
    conversation.contextNearlyFull = false;
    conversation.goOnWhenFull = false;
    conversation.frame = {};
    setSavedNote(conversation, {});
    m_queue.add(conversation.header.id, answer);
    setPhase(conversation, OpenConversation::Phase::Queued);
    Q_EMIT contextChanged(conversation.header.id);
    startNext();
    Q_EMIT messagesChanged(conversation.header.id);
}

void OpenConversations::stopAll()
{
    const QList<TurnQueue::Turn> waiting = m_queue.waiting();  // stopping takes them out
    for (const TurnQueue::Turn& turn : waiting)
        if (OpenConversation* const conversation = find(turn.conversation))
            stop(*conversation);
    if (const TurnQueue::Turn* const turn = m_queue.running())
        stop(*find(turn->conversation));
}

void OpenConversations::startNext()
{
    if (!m_model || m_loading)
        return;
    const std::optional<TurnQueue::Turn> turn = m_queue.startNext();
    if (!turn)
        return;
    if (OpenConversation* const conversation = find(turn->conversation))
        begin(*turn, *conversation);
    for (const TurnQueue::Turn& other : m_queue.waiting())
        Q_EMIT phaseChanged(other.conversation);  // one place further
}

void OpenConversations::begin(const TurnQueue::Turn& turn, OpenConversation& conversation)
{
    StoredMessage* const answer = conversation.tree.find(turn.answer);
    const auto reads = m_model->has_chat_template ? ModelReads::Messages : ModelReads::Text;
    const auto path = conversation.tree.pathTo(answer->text.isEmpty() ? answer->parent : turn.answer);
    m_asked = chatRequest(m_options, conversation.header.settings, path, reads);
    m_asked.request.saved_as = turn.conversation.toStdString();
    answer->model = ModelFacts(*m_model).name;
    m_savedSize = answer->text.size();
    m_clock.start(answer->text, answer->reasoningMs);
    save(conversation);
    save(conversation, turn.answer);
    m_saveTimer.start();
    m_stop = std::stop_source();
    setPhase(conversation, OpenConversation::Phase::Reading);
    Q_EMIT messagesChanged(turn.conversation);
    Q_EMIT turnBegan(turn.number, turn.conversation);
    m_engine.generate(turn.number, turn.conversation, m_asked.request, m_stop.get_token());
}

/// Its turn does not come. What was there before is there again; a new answer goes, or says why there is none.
void OpenConversations::unqueue(OpenConversation& conversation, const QString& sentence)
{
    if (StoredMessage* const answer = conversation.tree.find(conversation.answer)) {
        if (conversation.before) {
            *answer = *conversation.before;
        } else if (sentence.isEmpty()) {
            conversation.tree.removeLast(conversation.answer);
        } else {
            answer->status = StoredMessage::Status::Failed;
            answer->sentence = sentence;
            save(conversation, conversation.answer);
        }
    }
    conversation.answer.clear();
    setPhase(conversation, OpenConversation::Phase::Idle);
    Q_EMIT messagesChanged(conversation.header.id);
    Q_EMIT turnEnded(conversation.header.id);
    for (const TurnQueue::Turn& other : m_queue.waiting())
        Q_EMIT phaseChanged(other.conversation);
    Q_EMIT turnsChanged();
    dropIdle();
}

void OpenConversations::setSavedNote(OpenConversation& conversation, const QString& note)
{
    if (std::exchange(conversation.savedNote, note) != note)
        Q_EMIT savedNoteChanged(conversation.header.id);
}

void OpenConversations::setPhase(OpenConversation& conversation, OpenConversation::Phase phase)
{
    if (conversation.phase == phase)
        return;
    const auto before = conversation.activity();
    conversation.phase = phase;
    Q_EMIT phaseChanged(conversation.header.id);
    if (conversation.activity() != before)
        Q_EMIT activityChanged(conversation.header.id, conversation.activity());
}

void OpenConversations::saveText()
{
    const TurnQueue::Turn* const turn = m_queue.running();
    OpenConversation* const conversation = turn ? find(turn->conversation) : nullptr;
    const StoredMessage* const answer = conversation ? conversation->tree.find(turn->answer) : nullptr;
    if (!answer || answer->text.size() == m_savedSize)
        return;
    m_savedSize = answer->text.size();
    m_store.saveText(turn->conversation, answer->id, answer->text);
}

void OpenConversations::dropIdle()
{
    std::erase_if(m_conversations, [this](const auto& entry) {
        const OpenConversation& conversation = *entry.second;
        return entry.first != m_shown && !conversation.busy();
    });
}
