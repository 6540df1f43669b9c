// ChatController shows one conversation to the page and opens another.
#pragma once

#include "app/chat/chat_clipboard.h"
#include "app/chat/chat_comparison.h"
#include "app/chat/chat_context.h"
#include "app/chat/chat_pins.h"
#include "app/chat/chat_turn.h"
#include "app/chat/chat_versions.h"
#include "app/chat/latest_telemetry.h"
#include "app/chat/lit_tokens.h"
#include "app/chat/message_model.h"
#include "app/chat/message_place.h"
#include "app/store/conversation_store.h"

#include <QObject>
#include <QStringList>
#include <QTimer>
#include <QtQml/qqmlregistration.h>

/// The conversation that is shown: which one, its title, draft and settings, and the objects that do the rest of what a
/// page may ask of it. Lives on the UI thread; owned by Program.
class ChatController : public QObject
{
    Q_OBJECT
    QML_ELEMENT
    QML_UNCREATABLE("made by the program")
    Q_PROPERTY(ChatTurn* turn READ turn CONSTANT)
    Q_PROPERTY(ChatContext* context READ context CONSTANT)
    Q_PROPERTY(ChatVersions* versions READ versions CONSTANT)
    Q_PROPERTY(ChatComparison* comparison READ comparison CONSTANT)
    Q_PROPERTY(ChatPins* pins READ pins CONSTANT)
    Q_PROPERTY(ChatClipboard* clipboard READ clipboard CONSTANT)
    Q_PROPERTY(MessageModel* messages READ messages CONSTANT)
    Q_PROPERTY(LatestTelemetry* telemetry READ telemetry CONSTANT)
    Q_PROPERTY(LitTokens* lit READ lit CONSTANT)
    Q_PROPERTY(QString conversationId READ conversationId NOTIFY opened)
    Q_PROPERTY(QString title READ title NOTIFY titleChanged)
    Q_PROPERTY(QString draft READ draft WRITE setDraft NOTIFY draftChanged)
    Q_PROPERTY(bool continuesText READ continuesText NOTIFY continuesTextChanged)
    Q_PROPERTY(QString warnings READ warnings NOTIFY warningsChanged)

public:
    /// `open` and `turns` outlive this.
    ChatController(EngineThread& engine, ConversationStore& store, OpenConversations& open, TurnRunner& turns,
                   QObject* parent = nullptr);
    ~ChatController() override;

    ChatTurn* turn() { return &m_turn; }
    ChatContext* context() { return &m_context; }
    ChatVersions* versions() { return &m_versions; }
    ChatComparison* comparison() { return &m_comparison; }
    ChatPins* pins() { return &m_pins; }
    ChatClipboard* clipboard() { return &m_clipboard; }
    MessageModel* messages() { return &m_messages; }
    LatestTelemetry* telemetry() { return &m_telemetry; }
    LitTokens* lit() { return &m_lit; }
    QString conversationId() const { return m_shown.id(); }
    QString title() const { return m_shown->header.title; }  // empty: it has none yet
    QString draft() const { return m_shown->header.draft; }
    void setDraft(const QString& draft);
    void setDraftRest(int ms) { m_draftTimer.setInterval(ms); }  // after which a draft is saved
    /// Returns the files attached to the draft. Not for pages: ComposerController has them.
    QList<DraftFile> draftFiles() const { return m_shown->header.draftFiles; }
    /// Sets them. `unread`: how many more files are attached that are still being read or could not be read.
    void setDraftFiles(const QList<DraftFile>& files, int unread = 0);
    /// Does the same for a conversation that is not shown; `unread` counts no files that could not be read. False:
    /// nothing is left in the conversation, and it was thrown away.
    bool keepDraftFiles(const QString& conversation, const QList<DraftFile>& files, int unread);
    bool continuesText() const { return m_turns.model() && !m_turns.model()->has_chat_template; }
    QString warnings() const { return m_warnings.join(QLatin1Char('\n')); }  // one sentence on each line

    /// Returns the settings of the conversation. Not for pages: ConversationSettingsController shows them.
    ConversationSettings settings() const { return m_shown->header.settings; }
    void setSettings(const ConversationSettings& settings);

    /// Finds a message by its place in the order in which the conversation's were made, from 1; null: there is none.
    /// Not for pages.
    const StoredMessage* messageNumbered(int number) const { return m_shown->tree.numbered(number); }

    /// Shows another conversation. False: there is no such thing.
    Q_INVOKABLE bool open(const QString& id);
    Q_INVOKABLE void newConversation();

    /// Finds where in a message the words of a search's excerpt stand.
    Q_INVOKABLE MessagePlace placeOf(const QString& message, const QString& excerpt) const;
    Q_INVOKABLE QString rawText(const QString& message) const;
    Q_INVOKABLE void dismissWarnings();

Q_SIGNALS:
    void opened(const QString& id);
    void titleChanged();
    void draftChanged();
    void settingsChanged();
    void continuesTextChanged();
    void warningsChanged();

private:
    void connectShown();
    void showConversation(OpenConversation& conversation);
    void saveDraft();
    void onDraftAtRest();
    QString leave();
    void onModelChanged();
    void onEvent(const engine::Event& event, quint64 turn);
    void onHeaderSaved(const ConversationHeader& header);
    void onTrashed(const QString& id);

    ConversationStore& m_store;
    OpenConversations& m_open;
    TurnRunner& m_turns;
    ShownConversation m_shown;
    ChatTurn m_turn;
    ChatContext m_context;
    ChatVersions m_versions;
    ChatComparison m_comparison;
    ChatPins m_pins;
    ChatClipboard m_clipboard;
    MessageModel m_messages;
    LatestTelemetry m_telemetry;
    LitTokens m_lit;
    QStringList m_warnings;

    QTimer m_draftTimer;
    bool m_draftChanged = false;  // since it was saved
};
