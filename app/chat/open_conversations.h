// OpenConversations keeps the conversations in memory and runs their turns.
#pragma once

#include "app/chat/chat_request.h"
#include "app/chat/open_conversation.h"
#include "app/chat/pinned_messages.h"
#include "app/chat/placement_move.h"
#include "app/chat/reasoning_clock.h"
#include "app/chat/turn_queue.h"
#include "app/store/conversation_store.h"
#include "app/worker/engine_thread.h"

#include <QObject>
#include <QTimer>

#include <map>
#include <memory>
#include <optional>
#include <stop_token>

/// Keeps the conversation that is shown and those that have a turn, runs their turns one after another, and puts what
/// comes of them into their trees and into the store, whether somebody looks or not. Lives on the UI thread; owned by
/// ChatController.
class OpenConversations : public QObject
{
    Q_OBJECT

public:
    /// `options` is what every request starts from: sampling, length.
    OpenConversations(EngineThread& engine, ConversationStore& store, engine::Request options);
    ~OpenConversations() override;

    OpenConversation* find(const QString& id) const;  // null: it is not in memory
    OpenConversation* open(const QString& id);        // from the store if need be; null: there is no such thing
    OpenConversation* create(const ConversationSettings& settings);
    /// This one is looked at: it stays, and what was looked at before and has no turn goes.
    void show(const QString& id);
    /// It was thrown away: what its turn makes belongs to nobody.
    void forget(const QString& id);

    // A turn each; the conversation must not have one already.
    void answer(OpenConversation& conversation, const QString& question);     // a new version
    void answerAgain(OpenConversation& conversation, const QString& answer);  // in its place
    void goOn(OpenConversation& conversation, const QString& answer);         // where its text ends
    void stop(OpenConversation& conversation);
    void stopAll();
    bool busy() const { return m_queue.busy() || !m_queue.waiting().isEmpty(); }  // with any of them
    /// Keeps a message's KV on the device, or no longer.
    void togglePin(OpenConversation& conversation, const QString& message);
    QStringList pinned(const QString& id) const { return m_pinned.of(id); }
    /// Whose turn runs; empty: nobody's.
    QString answered() const { return m_queue.running() ? m_queue.running()->conversation : QString(); }
    std::optional<int> position(const QString& id) const { return m_queue.position(id); }

    // Into the store, as they are now.
    void save(OpenConversation& conversation);
    void save(OpenConversation& conversation, const QString& message);
    void saveAll(OpenConversation& conversation);

    /// Turns wait while one loads. Empty, and not loading: those that wait are not going to be answered.
    void setModel(std::optional<engine::ModelInfo> model);
    void setLoading();
    const std::optional<engine::ModelInfo>& model() const { return m_model; }
    bool loading() const { return m_loading; }
    int contextTokens() const { return m_model ? m_model->context_in_use : 0; }
    ChatRequest nextRequest(const OpenConversation& conversation) const;

Q_SIGNALS:
    // Of the conversation with this id.
    void phaseChanged(const QString& id);
    void messagesChanged(const QString& id);  // any of them but text that was added
    void textAdded(const QString& id, const QString& message, const QString& text);
    void numbersChanged(const QString& id);
    void contextChanged(const QString& id);
    void savedNoteChanged(const QString& id);
    void pinsChanged(const QString& id);
    void turnBegan(quint64 turn, const QString& id);
    void tokensPlaced(const QString& id, const QList<MessageTokens>& places);  // of its turn, in the prompt's order
    void turnEnded(const QString& id);
    void turnsChanged();  // one of any conversation has ended, or left the queue
    void activityChanged(const QString& id, ConversationActivity::Value activity);

    void modelLost();  // the engine had to close it; the message that was being answered says why

private:
    void enqueue(OpenConversation& conversation, const QString& answer);
    void startNext();
    void begin(const TurnQueue::Turn& turn, OpenConversation& conversation);
    void unqueue(OpenConversation& conversation, const QString& sentence);
    void settle(const TurnQueue::Turn& turn, StoredMessage::Status status, const QString& sentence,
                const engine::Telemetry* numbers);
    void setSavedNote(OpenConversation& conversation, const QString& note);
    void setPhase(OpenConversation& conversation, OpenConversation::Phase phase);
    void postPins(const OpenConversation& conversation);
    static QList<MessageTokens> placesOf(const OpenConversation& conversation);
    void saveText();
    void dropIdle();

    void onPrompt(quint64 turn, const engine::PromptLedger& ledger);
    void onText(quint64 turn, const QString& text);
    void onTelemetry(quint64 turn, const engine::Telemetry& frame);
    void onNearlyFull(quint64 turn);
    void onSavedKv(quint64 turn, const engine::Event& event);
    void onFinished(quint64 turn, const engine::Turn& result);
    void onFailed(quint64 turn, const engine::Error& error);
    OpenConversation* running(quint64 turn) const;

    EngineThread& m_engine;
    ConversationStore& m_store;
    engine::Request m_options;
    std::map<QString, std::unique_ptr<OpenConversation>> m_conversations;
    QString m_shown;
    std::optional<engine::ModelInfo> m_model;
    bool m_loading = false;

    TurnQueue m_queue;
    PinnedMessages m_pinned;
    QString m_ranLast;    // the conversation that the engine computed last
    ChatRequest m_asked;  // of the turn that runs
    ReasoningClock m_clock;
    std::stop_source m_stop{std::nostopstate};
    QTimer m_saveTimer;
    qsizetype m_savedSize = 0;  // of the answer's text
};
