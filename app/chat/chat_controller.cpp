#include "app/chat/chat_controller.h"

#include "app/chat/block_model.h"
#include "app/text/reasoning.h"

#include <QClipboard>
#include <QGuiApplication>

#include <utility>

namespace {

constexpr int kDraftDelayMs = 500;
constexpr int kCountAfterMs = 300;  // of rest; who types fast needs no numbers in between

/// Whether the prompt stays as it is, and the room for its answer.
bool asksTheSame(const ConversationSettings& a, const ConversationSettings& b)
{
    const auto longest = [](const ConversationSettings& s) { return s.sampling.value(QLatin1String("max_tokens")); };
    return a.systemPrompt == b.systemPrompt && a.templateArguments == b.templateArguments && longest(a) == longest(b);
}

/// What somebody wants to have of a message elsewhere: not its reasoning, unless there is nothing else.
QString wordsOf(const StoredMessage& message)
{
    const QString answer = message.role == StoredMessage::Role::Assistant ? answerOf(message.text) : QString();
    return answer.isEmpty() ? message.text : answer;
}

}  // namespace

ChatController::ChatController(EngineThread& engine, ConversationStore& store, engine::Request options, QObject* parent)
    : QObject(parent)
    , m_engine(engine)
    , m_store(store)
    , m_open(engine, store, std::move(options))
    , m_shown(m_open.create({}))
    , m_counter(engine)
{
    m_open.show(m_shown->header.id);
    connectTurns();
    connect(engine.worker(), &EngineWorker::promptCounted, this, &ChatController::onPromptCounted);
    connect(engine.worker(), &EngineWorker::eventHappened, this, &ChatController::onEvent);
    connect(&store, &ConversationStore::saved, this, &ChatController::onHeaderSaved);
    connect(&store, &ConversationStore::trashed, this, &ChatController::onTrashed);
    m_draftTimer.setSingleShot(true);
    m_draftTimer.setInterval(kDraftDelayMs);
    connect(&m_draftTimer, &QTimer::timeout, this, &ChatController::saveDraft);
    m_countTimer.setSingleShot(true);
    m_countTimer.setInterval(kCountAfterMs);
    connect(&m_countTimer, &QTimer::timeout, this, &ChatController::recount);
}

ChatController::~ChatController()
{
    disconnect(&m_store, nullptr, this, nullptr);
    const QString emptied = leave();
    if (!emptied.isEmpty())
        m_store.moveToTrash(emptied);
    m_open.disconnect(this);
}

void ChatController::connectTurns()
{
    const auto ofShown = [this](auto&& slot) {
        return [this, slot](const QString& id) {
            if (id == conversationId())
                slot();
        };
    };
    connect(&m_open, &OpenConversations::phaseChanged, this, ofShown([this] {
        Q_EMIT stateChanged();
        Q_EMIT canSendChanged();
    }));
    connect(&m_open, &OpenConversations::turnsChanged, this, &ChatController::turnsChanged);
    connect(&m_open, &OpenConversations::messagesChanged, this, ofShown([this] { showMessages(); }));
    connect(&m_open, &OpenConversations::contextChanged, this, ofShown([this] { Q_EMIT contextChanged(); }));
    connect(&m_open, &OpenConversations::savedNoteChanged, this, ofShown([this] { Q_EMIT savedNoteChanged(); }));
    connect(&m_open, &OpenConversations::pinsChanged, this, ofShown([this] { Q_EMIT pinsChanged(); }));
    connect(this, &ChatController::opened, this, &ChatController::pinsChanged);
    connect(&m_open, &OpenConversations::turnEnded, this, ofShown([this] {
        m_countTimer.start();
        countUnanswered();
    }));
    connect(&m_open, &OpenConversations::numbersChanged, this, ofShown([this] {
        if (m_open.model())  // without one, another is being loaded, and the meter is no longer this turn's
            m_telemetry.show(m_shown->frame);
    }));
    connect(&m_open, &OpenConversations::textAdded, this,
            [this](const QString& id, const QString& message, const QString& text) {
                if (id == conversationId())
                    m_messages.append(message, text);
            });
    connect(&m_open, &OpenConversations::turnBegan, this, &ChatController::turnBegan);
    connect(&m_open, &OpenConversations::turnBegan, this, &ChatController::stopCounting);
    connect(this, &ChatController::turnBegan, this, &ChatController::elsewhereChanged);
    connect(this, &ChatController::turnsChanged, this, &ChatController::elsewhereChanged);
    connect(this, &ChatController::opened, this, &ChatController::elsewhereChanged);
    connect(&m_open, &OpenConversations::tokensPlaced, this, &ChatController::tokensPlaced);
    connect(&m_open, &OpenConversations::activityChanged, this, &ChatController::conversationActivity);
    connect(this, &ChatController::contextChanged, &m_lit, [this] { m_lit.setPlaces(m_shown->places); });
    connect(&m_open, &OpenConversations::modelLost, this, [this] {
        modelChanged();
        Q_EMIT modelLost();
    });
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

void ChatController::setDraftFiles(const QList<DraftFile>& files)
{
    if (m_shown->header.draftFiles == files)
        return;
    m_shown->header.draftFiles = files;
    m_draftChanged = true;
    m_draftTimer.start();
}

int ChatController::queuePosition() const
{
    return m_open.position(conversationId()).value_or(0);
}

QString ChatController::obstacle() const
{
    if (m_open.loading())
        return tr("The model is still loading.");
    if (!m_open.model())
        return m_modelAside ? tr("The model made room for an experiment, and comes back when that has ended.")
                            : tr("Open a model first.");
    switch (state()) {
    case Ready:
        return {};
    case Queued:
        return tr("The last message here has not been answered yet.");
    case Stopping:
        return tr("The answer is being stopped.");
    case Reading:
    case Answering:
        break;
    }
    return tr("The model is still answering.");
}

QString ChatController::answeredElsewhere() const
{
    const QString answered = m_open.answered();
    return answered == conversationId() ? QString() : answered;
}

QString ChatController::titleElsewhere() const
{
    const OpenConversation* const other = m_open.find(answeredElsewhere());
    return other ? other->header.title : QString();
}

bool ChatController::continuesText() const
{
    return m_open.model() && !m_open.model()->has_chat_template;
}

void ChatController::setSettings(const ConversationSettings& settings)
{
    if (m_shown->header.settings == settings)
        return;
    const ConversationSettings before = std::exchange(m_shown->header.settings, settings);
    if (m_shown->worthKeeping() || m_shown->kept)
        m_open.save(*m_shown);
    if (!asksTheSame(before, settings))
        contextIsDifferent();
    Q_EMIT settingsChanged();
}

bool ChatController::open(const QString& id)
{
    if (id == conversationId())
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
        return;  // it is one
    showConversation(*m_open.create({}));
}

void ChatController::showConversation(OpenConversation& conversation)
{
    const QString emptied = leave();
    m_shown = &conversation;
    m_open.show(conversation.header.id);
    Q_EMIT opened(conversationId());
    if (!emptied.isEmpty())
        m_store.moveToTrash(emptied);
    Q_EMIT titleChanged();
    Q_EMIT draftChanged();
    Q_EMIT settingsChanged();
    showMessages();
    m_telemetry.show(m_shown->frame);
    if (m_shown->frame.context_limit == 0)
        m_telemetry.reset(m_open.contextTokens());
    Q_EMIT stateChanged();
    Q_EMIT canSendChanged();
    Q_EMIT contextChanged();
    Q_EMIT savedNoteChanged();
    m_countTimer.start();
}

void ChatController::showMessages()
{
    m_messages.show(*m_shown);
}

void ChatController::saveDraft()
{
    if (std::exchange(m_draftChanged, false) && (m_shown->worthKeeping() || m_shown->kept))
        m_open.save(*m_shown);
}

/// Another conversation is going to be shown, or none. Returns the one that was kept for its draft alone, when that is
/// gone: it is not worth keeping any more.
QString ChatController::leave()
{
    m_draftTimer.stop();
    saveDraft();
    return m_shown->kept && !m_shown->worthKeeping() ? conversationId() : QString();
}

void ChatController::copy(const QString& text)
{
    QGuiApplication::clipboard()->setText(text);
}

void ChatController::copyMessage(const QString& message)
{
    if (const StoredMessage* const found = m_shown->tree.find(message))
        copy(wordsOf(*found));
}

void ChatController::copyLastAnswer()
{
    const QList<const StoredMessage*> path = m_shown->tree.path();
    for (auto message = path.rbegin(); message != path.rend(); ++message)
        if ((*message)->role == StoredMessage::Role::Assistant && !(*message)->text.isEmpty()) {
            copy(wordsOf(**message));
            return;
        }
}

void ChatController::copyLastCode()
{
    const QList<const StoredMessage*> path = m_shown->tree.path();
    for (auto message = path.rbegin(); message != path.rend(); ++message) {
        if ((*message)->role != StoredMessage::Role::Assistant)
            continue;
        BlockModel blocks;
        blocks.append((*message)->text);
        blocks.finish();
        for (int row = blocks.rowCount() - 1; row >= 0; --row)
            if (blocks.index(row).data(BlockModel::KindRole).toInt() == BlockModel::Code) {
                copy(blocks.codeText(row));
                return;
            }
    }
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

void ChatController::onModelAside()
{
    m_modelAside = true;
    Q_EMIT canSendChanged();
}

void ChatController::onLoadStarted()
{
    m_modelAside = false;
    m_open.setLoading();
    dismissWarnings();
    modelChanged();
}

void ChatController::onModelReady(const engine::ModelInfo& model)
{
    m_open.setModel(model);
    modelChanged();
    const QString cut = std::exchange(m_goesOnAfterLoad, {});
    if (OpenConversation* const conversation = cut.isEmpty() ? nullptr : m_open.open(cut))
        goOnWithWhatWasCut(*conversation);
}

void ChatController::onModelGone()
{
    m_goesOnAfterLoad.clear();
    m_open.setModel({});
    modelChanged();
}

void ChatController::modelChanged()
{
    m_shown->ledger = {};
    m_shown->contextFull = m_shown->contextNearlyFull = false;
    m_shown->tooLongTokens = 0;
    m_telemetry.reset(m_open.contextTokens());
    Q_EMIT canSendChanged();
    Q_EMIT continuesTextChanged();
    contextIsDifferent();
}

void ChatController::onEvent(const engine::Event& event)
{
    using Kind = engine::Event::Kind;
    const bool worthALine = event.kind == Kind::Warning || event.kind == Kind::TurnsDropped ||
                            (event.kind == Kind::CommandDone && !event.ok);
    const QString sentence = asSentence(QString::fromStdString(event.sentence));
    if (!worthALine || sentence.isEmpty() || m_warnings.contains(sentence))
        return;
    m_warnings.append(sentence);
    Q_EMIT warningsChanged();
}

/// Somebody may have renamed or pinned it, or moved it to a folder.
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
    if (conversation == m_shown)
        Q_EMIT titleChanged();
    else
        Q_EMIT elsewhereChanged();
}

void ChatController::onTrashed(const QString& id)
{
    if (m_goesOnAfterLoad == id)
        m_goesOnAfterLoad.clear();
    OpenConversation* const gone = m_open.find(id);
    if (!gone)
        return;
    if (gone == m_shown) {
        gone->kept = false;  // there is nothing left to save
        m_draftChanged = false;
        showConversation(*m_open.create({}));
    }
    m_open.forget(id);
    Q_EMIT conversationActivity(id, ConversationActivity::Idle);
}
