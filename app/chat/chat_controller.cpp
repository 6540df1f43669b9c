#include "app/chat/chat_controller.h"

#include "app/text/engine_words.h"

#include <utility>

namespace {

constexpr int kDraftDelayMs = 500;

/// Says whether both settings give the same prompt, and the same room for its answer.
bool asksTheSame(const ConversationSettings& a, const ConversationSettings& b)
{
    const auto longest = [](const ConversationSettings& s) { return s.sampling.value(QLatin1String("max_tokens")); };
    return a.systemPrompt == b.systemPrompt && a.templateArguments == b.templateArguments && longest(a) == longest(b);
}

}  // namespace

ChatController::ChatController(EngineThread& engine, ConversationStore& store, OpenConversations& open,
                               TurnRunner& turns, QObject* parent)
    : QObject(parent)
    , m_store(store)
    , m_open(open)
    , m_turns(turns)
    , m_shown(open, turns)
    , m_turn(m_shown, open, turns)
    , m_context(engine, m_shown, open, turns, m_turn)
    , m_versions(engine, store, m_shown, open, m_turn)
    , m_comparison(m_shown, turns)
    , m_pins(engine.worker(), m_shown, turns)
    , m_clipboard(m_shown)
{
    connectShown();
    connect(&turns, &TurnRunner::modelChanged, this, &ChatController::onModelChanged);
    connect(engine.worker(), &EngineWorker::eventHappened, this, &ChatController::onEvent);
    connect(&store, &ConversationStore::saved, this, &ChatController::onHeaderSaved);
    connect(&store, &ConversationStore::trashed, this, &ChatController::onTrashed);
    m_draftTimer.setSingleShot(true);
    m_draftTimer.setInterval(kDraftDelayMs);
    connect(&m_draftTimer, &QTimer::timeout, this, &ChatController::onDraftAtRest);
}

ChatController::~ChatController()
{
    disconnect(&m_store, nullptr, this, nullptr);
    const QString emptied = leave();
    if (!emptied.isEmpty())
        m_store.moveToTrash(emptied);
}

void ChatController::connectShown()
{
    m_messages.setGuessed(&m_turns.guessed());
    connect(&m_shown, &ShownConversation::messagesChanged, this, [this] { m_messages.show(*m_shown); });
    connect(&m_shown, &ShownConversation::textAdded, &m_messages, &MessageModel::append);
    connect(&m_shown, &ShownConversation::numbersChanged, this, [this] {
        if (m_turns.model())  // without one, another is loading, and the numbers no longer hold
            m_telemetry.show(m_shown->frame);
    });
    connect(&m_shown, &ShownConversation::contextChanged, &m_lit, [this] { m_lit.setPlaces(m_shown->places); });
    connect(&m_shown, &ShownConversation::titleChanged, this, &ChatController::titleChanged);
    connect(&m_shown, &ShownConversation::asked, this, [this] { m_draftChanged = false; });
    connect(&m_shown, &ShownConversation::draftTaken, this, &ChatController::draftChanged);
    connect(&m_versions, &ChatVersions::branched, this, &ChatController::open);
    connect(&m_comparison, &ChatComparison::kept, &m_turn, &ChatTurn::onKept);
}

void ChatController::setDraft(const QString& draft)
{
    if (m_shown->header.draft == draft)
        return;
    m_shown->header.draft = draft;
    m_draftChanged = true;
    m_draftTimer.start();
    Q_EMIT draftChanged();
}

void ChatController::setDraftFiles(const QList<DraftFile>& files, int unread)
{
    const bool sameUnread = std::exchange(m_shown->unreadFiles, unread) == unread;
    if (sameUnread && m_shown->header.draftFiles == files)
        return;
    m_shown->header.draftFiles = files;
    m_draftChanged = true;
    m_draftTimer.start();
}

bool ChatController::keepDraftFiles(const QString& conversation, const QList<DraftFile>& files, int unread)
{
    OpenConversation* const of = m_open.open(conversation);
    if (!of)
        return false;
    of->unreadFiles = unread;
    if (of->header.draftFiles != files) {
        of->header.draftFiles = files;
        m_open.save(*of);
    }
    const bool emptied = of->isEmptied();
    const bool stays = of->waitsForFiles() || (of->kept && !emptied);
    if (emptied)
        m_store.moveToTrash(conversation);
    m_open.dropIdle();
    return stays;
}

void ChatController::setSettings(const ConversationSettings& settings)
{
    if (m_shown->header.settings == settings)
        return;
    const ConversationSettings before = std::exchange(m_shown->header.settings, settings);
    if (m_shown->worthKeeping() || m_shown->kept)
        m_open.save(*m_shown);
    if (!asksTheSame(before, settings))
        m_shown.contextIsDifferent();
    Q_EMIT settingsChanged();
}

bool ChatController::open(const QString& id)
{
    if (id == m_shown.id())
        return true;
    OpenConversation* const conversation = m_open.open(id);
    if (!conversation)
        return false;
    showConversation(*conversation);
    return true;
}

void ChatController::newConversation()
{
    if (!m_shown->worthKeeping())
        return;  // the shown one is new
    showConversation(*m_open.create({}));
}

void ChatController::showConversation(OpenConversation& conversation)
{
    const QString emptied = leave();
    m_shown.show(conversation);
    Q_EMIT opened(m_shown.id());
    if (!emptied.isEmpty())
        m_store.moveToTrash(emptied);
    Q_EMIT titleChanged();
    Q_EMIT draftChanged();
    Q_EMIT settingsChanged();
    Q_EMIT m_shown.messagesChanged();
    m_telemetry.show(m_shown->frame);
    if (m_shown->frame.context_limit == 0)
        m_telemetry.reset(m_turns.contextTokens());
    Q_EMIT m_shown.phaseChanged();
    Q_EMIT m_shown.contextChanged();
    Q_EMIT m_shown.savedNoteChanged();
    Q_EMIT m_shown.promptChanged();
}

void ChatController::saveDraft()
{
    if (std::exchange(m_draftChanged, false) && (m_shown->worthKeeping() || m_shown->kept))
        m_open.save(*m_shown);
}

/// Saves the draft. If it has become empty and the conversation has nothing else, that is thrown away, and a new one is
/// shown in its place.
void ChatController::onDraftAtRest()
{
    if (m_shown->isEmptied())
        showConversation(*m_open.create({}));
    else
        saveDraft();
}

/// Saves the draft of the shown conversation before another one is shown, or none. Returns the conversation's id if it
/// was saved for a draft alone that is empty now: it is to be thrown away.
QString ChatController::leave()
{
    m_draftTimer.stop();
    saveDraft();
    return m_shown->isEmptied() ? m_shown.id() : QString();
}

MessagePlace ChatController::placeOf(const QString& message, const QString& excerpt) const
{
    const StoredMessage* const found = m_shown->tree.find(message);
    return found ? ::placeOf(*found, excerpt) : MessagePlace();
}

QString ChatController::rawText(const QString& message) const
{
    const StoredMessage* const found = m_shown->tree.find(message);
    return found ? found->text : QString();
}

void ChatController::dismissWarnings()
{
    if (m_warnings.isEmpty())
        return;
    m_warnings.clear();
    Q_EMIT warningsChanged();
}

void ChatController::onModelChanged()
{
    if (m_turns.loading())
        dismissWarnings();
    m_telemetry.reset(m_turns.contextTokens());
    Q_EMIT continuesTextChanged();
    m_shown.contextIsDifferent();
    m_turn.onModelChanged();  // comes last: cut answers go on here, with new numbers
}

void ChatController::onEvent(const engine::Event& event, quint64 turn)
{
    using Kind = engine::Event::Kind;
    const bool worthALine = event.kind == Kind::Warning || event.kind == Kind::TurnsDropped ||
                            (event.kind == Kind::CommandDone && !event.ok);
    QString sentence = asSentence(QString::fromStdString(event.sentence));
    const OpenConversation* const of = m_turns.answeredBy(turn);
    if (of && of != &*m_shown && !sentence.isEmpty() && !of->header.title.isEmpty())
        sentence =
            tr("“%1”: %2", "a conversation's title, and what has happened there").arg(of->header.title, sentence);
    if (!worthALine || sentence.isEmpty() || m_warnings.contains(sentence))
        return;
    m_warnings.append(sentence);
    Q_EMIT warningsChanged();
}

/// Takes over what the user may have changed in the column of conversations: title, pin, folder.
void ChatController::onHeaderSaved(const ConversationHeader& header)
{
    OpenConversation* const conversation = m_open.find(header.id);
    if (!conversation)
        return;
    conversation->header.titleByUser = header.titleByUser;
    conversation->header.pinned = header.pinned;
    conversation->header.folder = header.folder;
    if (conversation->header.title == header.title)
        return;
    conversation->header.title = header.title;
    if (conversation == &*m_shown)
        Q_EMIT titleChanged();
    else
        m_turn.onTitleElsewhere();
}

void ChatController::onTrashed(const QString& id)
{
    m_turn.onTrashed(id);
    if (id == m_shown.id()) {
        m_shown->kept = false;  // there is nothing left to save
        m_draftChanged = false;
        showConversation(*m_open.create({}));
    }
    m_turns.forget(id);  // also if it is not in memory here: the engine may have its KV in the cache
}

#include "moc_chat_controller.cpp"
