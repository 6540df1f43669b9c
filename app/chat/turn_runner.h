// TurnRunner runs the turns of the conversations, several at the same time.
#pragma once

#include "app/chat/answers_in_making.h"
#include "app/chat/chat_request.h"
#include "app/chat/guessed_text.h"
#include "app/chat/open_conversations.h"
#include "app/chat/pinned_messages.h"
#include "app/chat/placement_move.h"
#include "app/chat/turn_queue.h"
#include "app/worker/engine_thread.h"

#include <QObject>
#include <QTimer>

#include <map>
#include <optional>

/// Asks the model, here or on a server, for the answers that wait, several at the same time, and puts their text into
/// their conversations and into the store, whether these are shown or not. Lives on the UI thread; owned by Program.
class TurnRunner : public QObject
{
    Q_OBJECT

public:
    /// `options` is what every request starts from: sampling, length. Its messages are replaced.
    TurnRunner(EngineThread& engine, ConversationStore& store, OpenConversations& open, engine::Request options);
    ~TurnRunner() override;

    // answer() and goOn() make a turn; the conversation must not have one already. `versions`: new answers at once.
    void answer(OpenConversation& conversation, const QString& question, int versions = 1);
    /// Goes on with these answers at once, each where its text ends; one without a word is asked for again.
    void goOn(OpenConversation& conversation, const QStringList& answers);
    void stop(OpenConversation& conversation);
    /// Stops only this one of the answers that are being made there.
    void stop(OpenConversation& conversation, const QString& answer);
    void stopAll();
    /// Sets how many tokens an answer that begins from now on may draft at a time.
    void setMostDrafted(int tokens) { m_options.most_drafted = tokens; }
    /// Sets how many answers are made at the same time; the others wait. At first kMostAnswersAtOnce.
    void setMostAtOnce(int answers) { m_mostAtOnce = answers; }
    bool busy() const { return m_queue.busy() || !m_queue.waiting().isEmpty(); }  // with any of them
    /// Call it when a conversation was thrown away: stops its turn and drops what still comes of it.
    void forget(const QString& id);
    /// Keeps a message's KV on the device, or no longer if it was kept there.
    void togglePin(OpenConversation& conversation, const QString& message);
    const GuessedText& guessed() const { return m_guessed; }
    QStringList pinned(const QString& id) const { return m_pinned.of(id); }
    /// Returns the conversations whose turns run, in the order in which they began.
    QStringList answered() const;
    /// Returns the conversation whose answer has this number; null: none has, or it was forgotten.
    OpenConversation* answeredBy(quint64 turn) const;
    std::optional<int> position(const QString& id) const { return m_queue.position(id); }

    // Called when something happens to the model. Turns wait while one loads; when it is gone, waiting ones fail.
    void onLoadStarted();
    void onModelReady(const engine::ModelInfo& model);
    void onModelGone();
    void onModelAside();  // it comes back by itself
    const std::optional<engine::ModelInfo>& model() const { return m_model; }
    bool loading() const { return m_loading; }
    bool modelAside() const { return m_modelAside; }
    int contextTokens() const { return m_model ? m_model->context_in_use : 0; }
    ChatRequest nextRequest(const OpenConversation& conversation) const;

Q_SIGNALS:
    // Each is about the conversation with this id.
    void phaseChanged(const QString& id);
    void messagesChanged(const QString& id);  // any change of them but added text
    void textAdded(const QString& id, const QString& message, const QString& text);
    void numbersChanged(const QString& id);
    void answerMeasured(const QString& id, const QString& message, std::optional<double> tokensPerSecond);
    void contextChanged(const QString& id);
    void savedNoteChanged(const QString& id);
    void pinsChanged(const QString& id);
    void turnBegan(quint64 turn, const QString& id);
    void tokensPlaced(const QString& id, const QList<MessageTokens>& places);  // of its turn, in the prompt's order
    void turnEnded(const QString& id);
    void turnsChanged();  // one of any conversation has ended, or left the queue
    void activityChanged(const QString& id, ConversationActivity::Value activity);

    void modelChanged();  // the model loads, is there, is gone or made room
    void modelLost();     // the engine had to close it; the message that was being answered says why

private:
    /// A turn that runs, until the engine has ended all its answers.
    struct Running {
        ChatRequest asked;
        AnswersInMaking making;
    };
    /// The answer of a number, with its turn and its conversation.
    struct Owner {
        OpenConversation& conversation;
        Running& running;
        StoredMessage& answer;
        bool leads;  // it is the first of its turn: the others use its prompt
        bool shown;  // it is the last of the shown path: the context's state follows this one
    };
    std::optional<Owner> ownerOf(quint64 number);
    Owner ownerOf(const TurnQueue::Turn& turn, quint64 number);
    Running* runningOf(const OpenConversation& conversation);  // null: it has no turn that runs
    void stopRunning();
    void enqueue(OpenConversation& conversation, const QStringList& answers);
    void startNext();
    void breakOff(const TurnQueue::Turn& turn);
    void begin(const TurnQueue::Turn& turn, OpenConversation& conversation);
    ChatRequest requestFor(const OpenConversation& conversation, const StoredMessage& answer) const;
    void goOnWhereRoomWasMade(OpenConversation& conversation, const QStringList& answers);
    void tellThoseThatWait();
    void unqueue(OpenConversation& conversation, const QString& sentence);
    void settle(const Owner& owner, quint64 number, StoredMessage::Status status, const QString& sentence,
                const engine::Telemetry* numbers);
    void startNextAfterAnswer();
    void setSavedNote(OpenConversation& conversation, const QString& note);
    void setPhase(OpenConversation& conversation, OpenConversation::Phase phase);
    void pinPlaces(const OpenConversation& conversation);
    void saveText();

    void onPrompt(quint64 turn, const engine::PromptLedger& ledger);
    void onText(quint64 turn, const QString& text);
    void onTelemetry(quint64 turn, const engine::Telemetry& frame);
    void tellNumbers(quint64 turn, const engine::Telemetry& frame);
    void onNearlyFull(quint64 turn);
    void onSavedKv(quint64 turn, const engine::Event& event);
    void onFinished(quint64 turn, const engine::Turn& result);
    void onFailed(quint64 turn, const engine::Error& error);

    EngineThread& m_engine;
    ConversationStore& m_store;
    OpenConversations& m_open;
    engine::Request m_options;
    std::optional<engine::ModelInfo> m_model;
    bool m_loading = false;
    bool m_modelAside = false;

    TurnQueue m_queue;
    PinnedMessages m_pinned;
    GuessedText m_guessed;
    std::map<quint64, Running> m_running;  // by the turn's number
    int m_mostAtOnce = kMostAnswersAtOnce;
    QTimer m_saveTimer;
};
