// ChatController shows one conversation to the page and does what the page asks for.
#pragma once

#include "app/chat/activity.h"
#include "app/chat/context_choices.h"
#include "app/chat/context_ledger.h"
#include "app/chat/latest_telemetry.h"
#include "app/chat/lit_tokens.h"
#include "app/chat/message_model.h"
#include "app/chat/message_place.h"
#include "app/chat/open_conversations.h"
#include "app/store/conversation_store.h"
#include "app/worker/token_counter.h"

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

/// The conversation that is shown: what a page sees of it and may ask of it. Its turn runs, and waits for others, in
/// OpenConversations, also while another conversation is shown. Lives on the UI thread; owned by Program.
class ChatController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(MessageModel* messages READ messages CONSTANT)
    Q_PROPERTY(LatestTelemetry* telemetry READ telemetry CONSTANT)
    Q_PROPERTY(LitTokens* lit READ lit CONSTANT)
    Q_PROPERTY(bool canPin READ canPin NOTIFY canSendChanged)
    Q_PROPERTY(QStringList pinned READ pinned NOTIFY pinsChanged)
    Q_PROPERTY(QString conversationId READ conversationId NOTIFY opened)
    Q_PROPERTY(QString title READ title NOTIFY titleChanged)
    Q_PROPERTY(QString draft READ draft WRITE setDraft NOTIFY draftChanged)
    Q_PROPERTY(State state READ state NOTIFY stateChanged)
    Q_PROPERTY(bool busy READ busy NOTIFY stateChanged)
    Q_PROPERTY(bool queued READ queued NOTIFY stateChanged)
    Q_PROPERTY(int queuePosition READ queuePosition NOTIFY stateChanged)
    Q_PROPERTY(bool canSend READ canSend NOTIFY canSendChanged)
    Q_PROPERTY(QString obstacle READ obstacle NOTIFY canSendChanged)
    Q_PROPERTY(QString answeredElsewhere READ answeredElsewhere NOTIFY elsewhereChanged)
    Q_PROPERTY(QString titleElsewhere READ titleElsewhere NOTIFY elsewhereChanged)
    Q_PROPERTY(bool continuesText READ continuesText NOTIFY continuesTextChanged)
    Q_PROPERTY(QString warnings READ warnings NOTIFY warningsChanged)
    Q_PROPERTY(QString savedNote READ savedNote NOTIFY savedNoteChanged)
    Q_PROPERTY(ContextLedger ledger READ ledger NOTIFY contextChanged)
    Q_PROPERTY(bool contextFull READ contextFull NOTIFY contextChanged)
    Q_PROPERTY(bool contextNearlyFull READ contextNearlyFull NOTIFY contextChanged)
    Q_PROPERTY(bool canDropOldest READ canDropOldest NOTIFY contextChanged)
    Q_PROPERTY(int contextTokens READ contextTokens NOTIFY contextChanged)
    Q_PROPERTY(int tooLongTokens READ tooLongTokens NOTIFY contextChanged)
    Q_PROPERTY(int largerContext READ largerContext NOTIFY contextChanged)
    Q_PROPERTY(double largerContextBytes READ largerContextBytes NOTIFY contextChanged)

public:
    enum State {
        Ready,
        Queued,     // other conversations are answered first
        Reading,    // the prompt goes through the model
        Answering,  // text arrives
        Stopping,   // the engine has been told
    };
    Q_ENUM(State)

    /// `options` is what every request starts from: sampling, length. Its messages are replaced.
    ChatController(EngineThread& engine, ConversationStore& store, engine::Request options, QObject* parent = nullptr);
    ~ChatController() override;

    MessageModel* messages() { return &m_messages; }
    LatestTelemetry* telemetry() { return &m_telemetry; }
    LitTokens* lit() { return &m_lit; }
    bool canPin() const { return m_open.model() && !m_open.model()->device.empty(); }  // there is one to keep it on
    QStringList pinned() const { return m_open.pinned(conversationId()); }             // messages kept on the device
    QString conversationId() const { return m_shown->header.id; }
    QString title() const { return m_shown->header.title; }  // empty: it has none yet
    QString draft() const { return m_shown->header.draft; }
    void setDraft(const QString& draft);
    /// The files that go with it. Not for pages: the composer's controller has them.
    QList<DraftFile> draftFiles() const { return m_shown->header.draftFiles; }
    void setDraftFiles(const QList<DraftFile>& files);
    State state() const { return State(m_shown->phase); }
    bool busy() const { return m_shown->busy(); }
    bool queued() const { return state() == Queued; }
    int queuePosition() const;  // turns before this conversation's, with the one that runs; 0: it does not wait
    /// The conversation that is being answered while this one is looked at, by its id; empty: none is.
    QString answeredElsewhere() const;
    QString titleElsewhere() const;  // empty: it has none
    bool canSend() const { return obstacle().isEmpty(); }
    QString obstacle() const;  // why nothing can be sent now; empty when it can
    bool continuesText() const;
    QString warnings() const { return m_warnings.join(QLatin1Char('\n')); }  // a sentence a line

    /// How much of its KV came back from the disk for the newest answer, or why none; empty: it was in memory.
    QString savedNote() const { return m_shown->savedNote; }

    /// What the conversation is asked with. Not for pages: the settings' controller shows it.
    ConversationSettings settings() const { return m_shown->header.settings; }
    void setSettings(const ConversationSettings& settings);

    /// By its place in the order in which the conversation's were made, from 1; null: there is none. Not for pages.
    const StoredMessage* messageNumbered(int number) const { return m_shown->tree.numbered(number); }

    // The context: what fills it, and what can be done when it is (nearly) full.
    int contextTokens() const { return m_open.contextTokens(); }  // that it holds; 0: there is no model
    ContextLedger ledger() const { return m_shown->ledger; }
    bool contextFull() const { return m_shown->contextFull; }
    bool contextNearlyFull() const { return m_shown->contextNearlyFull; }
    bool canDropOldest() const { return !oldestTurns(*m_shown, m_open.contextTokens()).isEmpty(); }
    int tooLongTokens() const
    {
        return m_shown->tooLongTokens;
    }                           // of a question that no context choice but a larger one helps
    int largerContext() const;  // tokens it could be raised to; 0: it cannot
    double largerContextBytes() const;

    /// Shows another conversation. False: there is no such thing.
    Q_INVOKABLE bool open(const QString& id);
    Q_INVOKABLE void newConversation();

    /// False when it cannot be sent now; `obstacle` says why, and the text stays where it was typed.
    Q_INVOKABLE bool send(const QString& text);
    bool send(const QString& text, const QList<Attachment>& attachments);
    Q_INVOKABLE void stop();
    /// Asks for the last answer again: in place of one without a word, else as a new version.
    Q_INVOKABLE void retry();
    Q_INVOKABLE void regenerate(const QString& answer);
    Q_INVOKABLE void continueAnswer(const QString& answer);
    /// Of a question: a new version of it, which is asked. Of an answer: a new version that says this.
    Q_INVOKABLE bool edit(const QString& message, const QString& text);
    Q_INVOKABLE void previousVersion(const QString& message) { showVersion(message, -1); }
    Q_INVOKABLE void nextVersion(const QString& message) { showVersion(message, 1); }
    /// Of the last shown message that has versions.
    Q_INVOKABLE void stepVersion(int step);
    /// Shows the versions that lead to this message, as a search may find one that is not on the shown path. False:
    /// there is no such message here.
    Q_INVOKABLE bool showMessage(const QString& message);
    /// Where in it the words of a search's excerpt stand.
    Q_INVOKABLE MessagePlace placeOf(const QString& message, const QString& excerpt) const;
    /// A new conversation with the messages up to this one.
    Q_INVOKABLE void branch(const QString& message);

    /// Leaves the oldest turns out of what the model reads; an answer that was cut goes on.
    Q_INVOKABLE void dropOldest();
    /// The model reads them again: the ones left out next to this message.
    Q_INVOKABLE void bringBack(const QString& message);
    Q_INVOKABLE void raiseContext();
    /// Keeps a message's KV on the device, or no longer. Empty: the system prompt's.
    Q_INVOKABLE void togglePin(const QString& message);
    Q_INVOKABLE void dismissContextNotice();

    Q_INVOKABLE void copy(const QString& text);
    Q_INVOKABLE void copyMessage(const QString& message);
    Q_INVOKABLE void copyLastAnswer();
    Q_INVOKABLE void copyLastCode();  // of the newest answer that has any
    Q_INVOKABLE QString rawText(const QString& message) const;
    Q_INVOKABLE void dismissWarnings();

    /// In any conversation, shown or not: a turn runs or waits. Not for pages.
    bool answering() const { return m_open.busy(); }
    void stopAll() { m_open.stopAll(); }

    // What becomes of the model.
    void onLoadStarted();
    void onModelReady(const engine::ModelInfo& model);
    void onModelGone();
    void onModelAside();  // it comes back by itself

Q_SIGNALS:
    void opened(const QString& id);
    void titleChanged();
    void draftChanged();
    void settingsChanged();
    void stateChanged();
    void elsewhereChanged();
    void canSendChanged();
    void contextChanged();
    void continuesTextChanged();
    void warningsChanged();
    void savedNoteChanged();
    void pinsChanged();
    void turnsChanged();  // in any conversation

    void conversationActivity(const QString& id, ConversationActivity::Value activity);

    // Of any conversation.
    void turnBegan(quint64 turn, const QString& conversation);
    void tokensPlaced(const QString& conversation, const QList<MessageTokens>& places);

    void modelLost();  // the engine had to close it; the message that was being answered says why
    void reloadRequested(int contextTokens);  // the same model with a larger context

private:
    void connectTurns();
    void showConversation(OpenConversation& conversation);
    void showMessages();
    void showVersion(const QString& message, int step);
    bool ask(StoredMessage question);
    void answerLast(OpenConversation& conversation);
    void answerInsteadOf(OpenConversation& conversation, const StoredMessage& answer);
    void goOnWithWhatWasCut(OpenConversation& conversation);
    void pathIsDifferent();
    void contextIsDifferent();
    void saveDraft();
    QString leave();
    void recount();
    void stopCounting();
    void countUnanswered();
    void onPromptCounted(quint64 job, const std::optional<engine::PromptLedger>& ledger);
    void onEvent(const engine::Event& event);
    void onHeaderSaved(const ConversationHeader& header);
    void onTrashed(const QString& id);
    void modelChanged();
    std::optional<LargerContext> larger() const;

    EngineThread& m_engine;
    ConversationStore& m_store;
    OpenConversations m_open;
    OpenConversation* m_shown;  // there always is one
    MessageModel m_messages;
    LatestTelemetry m_telemetry;
    LitTokens m_lit;
    QStringList m_warnings;
    bool m_modelAside = false;

    QTimer m_draftTimer;
    bool m_draftChanged = false;  // and not saved
    TokenCounter m_counter;
    QTimer m_countTimer;
    quint64 m_countJob = 0;
    ChatRequest m_counted;  // what the newest job counts
    QString m_countedOf;    // the conversation
    std::stop_source m_countStop{std::nostopstate};
    bool m_counting = false;    // the engine is at it
    bool m_countAgain = false;  // and what it counts is no longer what there is
    QString m_goesOnAfterLoad;  // the conversation whose answer was cut for a larger context
};
