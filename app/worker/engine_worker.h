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

/// Answers that the window has made at the same time at most. The engine takes more: the others are the server's.
inline constexpr int kMostAnswersAtOnce = 8;

/// One of the answers that are made at the same time to the same question.
struct AskedAnswer {
    quint64 turn = 0;
    QString message;  // that is being made
    engine::Request request;
    std::stop_token stop;
};

/// Runs the engine and tells what happens, by signals only. Lives on the engine's thread; made and owned by
/// EngineThread. Everything it says about a load or a turn carries the number it was asked with, so that a listener can
/// drop what comes too late. While something is answered it steps the engine whenever it has nothing else to do, so
/// that another conversation's answer begins beside the others; a load waits until all have ended.
class EngineWorker : public QObject
{
    Q_OBJECT

public:
    /// `shutdown` ends whatever runs when the program goes; each call has a stop token of its own besides.
    EngineWorker(std::unique_ptr<engine::Engine> engine, std::stop_token shutdown);
    ~EngineWorker() override;

    /// Any thread. The answer is an event of kind CommandDone with the number returned here.
    quint64 post(const engine::Command& command);

    // The engine's thread only (EngineThread queues them). Stopping is not a slot: a busy thread reads no queue, so the
    // caller keeps the stop_source and asks it directly.
    void load(quint64 job, const engine::LoadRequest& request, const std::stop_token& stop);
    void unload(quint64 job);
    // A conversation keeps its place in the KV cache from one turn to the next; the one that was used longest ago gives
    // it up when there are too many.
    // Its answers, and those of other conversations, advance together. The prompt is read once, for the first of them.
    // What they have in the KV cache is kept until the next turn of any conversation begins: that goes on with the one
    // that is among the messages of its own prompt, which are `path`.
    void answer(const QString& conversation, const QStringList& path, const std::vector<AskedAnswer>& asked);
    // The new conversation begins with what the KV cache holds of the other one, as far as both go alike.
    void branchConversation(const QString& from, const QString& to);
    void endConversation(const QString& conversation);  // when its answers have ended
    // Tokens of it stay on the device. Nothing, while it has no place in the KV cache.
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
    // `alone`: no other answer has been made beside it so far. Others say nothing of how fast the model is.
    void telemetryReady(quint64 turn, const engine::Telemetry& frame, bool alone);
    void finished(quint64 turn, const engine::Turn& result, bool alone);
    void failed(quint64 turn, const engine::Error& error);
    // The same of answers that were made beside the first of their conversation. Nobody who measures hears of these.
    void telemetryBeside(quint64 turn, const engine::Telemetry& frame);
    void finishedBeside(quint64 turn, const engine::Turn& result);
    void failedBeside(quint64 turn, const engine::Error& error);
    void rested();  // nothing is answered any more

    void contextNearlyFull(quint64 turn);
    void savedKvUsed(quint64 turn, const engine::Event& event);  // or why it was not

    // Empty: there is no model, it cannot tell, or it was stopped.
    void tokensCounted(quint64 job, std::optional<int> tokens);
    void promptCounted(quint64 job, const std::optional<engine::PromptLedger>& ledger);

    // turn 0: of none. Whose tokens moved, `conversations` says; none: nobody's here, or it is no such event.
    void eventHappened(const engine::Event& event, quint64 turn = 0, const QStringList& conversations = {});
    // Between turns: where the bytes lie after a load, and what a command has changed of it.
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
    std::vector<Speaker*> speakers();                   // whose turns run
    Answering* answering(const QString& conversation);  // null: it is not answered
    engine::Listener listenerFor(Speaker& speaker);
    void endVersions(const QString& conversation, const QStringList& path);
    engine::Result<engine::SequenceId> sequenceFor(const QString& conversation);
    std::optional<engine::SequenceId> knownSequence(const QString& conversation);
    void addPlace(const QString& conversation, engine::SequenceId sequence);
    engine::Listener idleListener();
    void poll();

    std::unique_ptr<engine::Engine> m_engine;
    std::stop_token m_shutdown;
    struct Place {
        QString conversation;
        engine::SequenceId sequence;
    };
    QList<Place> m_places;  // in the engine; used last comes last
    struct Version {
        QString conversation;
        QString message;
        engine::SequenceId sequence;
    };
    QList<Version> m_versions;  // of turns that made several; the first of each has its conversation's place
    std::list<Answering> m_answering;
    bool m_stepIsQueued = false;
    bool m_pollLater = false;
};
