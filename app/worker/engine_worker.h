// EngineWorker runs the engine on its thread and reports by signals.
#pragma once

#include "engine/engine.h"

#include <QElapsedTimer>
#include <QList>
#include <QObject>
#include <QString>
#include <QStringList>

#include <list>
#include <memory>
#include <optional>
#include <stop_token>
#include <vector>

/// The most answers that the window makes at the same time. The engine allows more; the rest are for the local server.
inline constexpr int kMostAnswersAtOnce = 8;

/// One of the answers that are made at the same time to the same question.
struct AskedAnswer {
    quint64 turn = 0;
    QString message;  // id of the answer that is being made
    engine::Request request;
    std::stop_token stop;
};

/// Runs the engine and tells what happens, by signals only. Lives on the engine's thread; made and owned by
/// EngineThread. Each signal about a load or a turn carries the number of the call, so that a listener can drop what
/// comes too late. While answers are made it steps the engine between queued calls, so that another conversation's
/// answer begins beside the others; a load waits until all answers have ended.
class EngineWorker : public QObject
{
    Q_OBJECT

public:
    /// `shutdown` stops whatever runs when the program ends; each call has a stop token of its own besides.
    EngineWorker(std::unique_ptr<engine::Engine> engine, std::stop_token shutdown);
    ~EngineWorker() override;

    /// Posts a command from any thread and returns its number; 0: there is no memory for it. An event of kind
    /// CommandDone with this number follows.
    quint64 post(const engine::Command& command);

    // The engine's thread only (EngineThread queues them). Stopping is not a slot: a busy thread reads no queue, so the
    // caller keeps the stop_source and asks it directly.
    void load(quint64 job, const engine::LoadRequest& request, const std::stop_token& stop);
    void unload(quint64 job);
    // A conversation keeps its place in the KV cache from one turn to the next; the one that was used longest ago gives
    // it up when there are too many. Its answers, and those of other conversations, advance together. The prompt is
    // read once, for the first answer. The KV of all its answers is kept until the next turn of any conversation
    // begins; a turn goes on from the answer that is among the messages of its prompt, `path`.
    void answer(const QString& conversation, const QStringList& path, const std::vector<AskedAnswer>& asked);
    // The new conversation begins with what the KV cache holds of the other one, as far as both go alike.
    void branchConversation(const QString& from, const QString& to);
    void endConversation(const QString& conversation);  // when its answers have ended
    // Keeps tokens of a conversation on the device. Does nothing while it has no place in the KV cache.
    void pin(const QString& conversation, const std::vector<engine::TokenRange>& tokens);
    // `inTheWay` ends a count that something more urgent waits for.
    void countTokens(quint64 job, const QString& text, const std::stop_token& stop, const std::stop_token& inTheWay);
    void countPrompt(quint64 job, const engine::Request& request, const std::stop_token& stop,
                     const std::stop_token& inTheWay);

Q_SIGNALS:
    void loadAdvanced(quint64 job, qint64 bytesDone, qint64 bytesTotal);
    void loaded(quint64 job, const engine::ModelInfo& model);
    void loadFailed(quint64 job, const engine::Error& error);
    void unloaded(quint64 job);

    void promptReady(quint64 turn, const engine::PromptLedger& ledger);
    void textReady(quint64 turn, const QString& text);
    // `alone`: no other answer has been made at the same time; only such an answer tells how fast the model is.
    void telemetryReady(quint64 turn, const engine::Telemetry& frame, bool alone);
    void finished(quint64 turn, const engine::Turn& result, bool alone);
    void failed(quint64 turn, const engine::Error& error);
    // These say the same of the further answers where a conversation gets several at once; they are not measured.
    void telemetryBeside(quint64 turn, const engine::Telemetry& frame);
    void finishedBeside(quint64 turn, const engine::Turn& result);
    void failedBeside(quint64 turn, const engine::Error& error);
    void rested();  // no answer is being made any more

    void contextNearlyFull(quint64 turn);
    void savedKvUsed(quint64 turn, const engine::Event& event);  // or computed again instead; `event` says why

    // The count is empty where there is no model, it cannot tell, or it was stopped.
    void tokensCounted(quint64 job, std::optional<int> tokens);
    void promptCounted(quint64 job, const std::optional<engine::PromptLedger>& ledger);

    // turn 0: of none. `conversations`: whose tokens moved; empty: no conversation of the window's, or no tokens moved.
    void eventHappened(const engine::Event& event, quint64 turn = 0, const QStringList& conversations = {});
    // Sent between turns: where the bytes lie after a load or a command.
    void placementReady(const engine::Telemetry& frame);

private:
    struct Speaker;
    struct Answering;
    void begin(Speaker& speaker, engine::SequenceId sequence);
    void beginBeside(Answering& its);
    void step();
    void stepSoon();
    void advance();
    void forgetWhatIsOver();
    void endAll();
    void end(Speaker& speaker);
    void fail(const Speaker& speaker, const engine::Error& error);
    void flush(Speaker& speaker);
    void tell(const engine::Event& event, quint64 turn);
    QStringList conversationsOf(const std::vector<engine::SequenceId>& sequences) const;
    std::vector<Speaker*> speakers();                   // those whose turns run
    Answering* answering(const QString& conversation);  // null: it is not being answered
    engine::Listener listenerFor(Speaker& speaker);
    void endVersions(const QString& conversation, const QStringList& path);
    engine::Result<engine::SequenceId> sequenceFor(const QString& conversation);
    std::optional<engine::SequenceId> knownSequence(const QString& conversation);
    void addSequence(const QString& conversation, engine::SequenceId sequence);
    engine::Listener idleListener();
    void poll();

    std::unique_ptr<engine::Engine> m_engine;
    std::stop_token m_shutdown;
    struct HeldSequence {
        QString conversation;
        engine::SequenceId sequence;
    };
    QList<HeldSequence> m_held;  // sequences in the engine, the last used one last
    struct Version {
        QString conversation;
        QString message;
        engine::SequenceId sequence;
    };
    QList<Version> m_versions;  // of turns with several answers; the first has its conversation's place
    std::list<Answering> m_answering;
    bool m_stepIsQueued = false;
    bool m_pollLater = false;
};
