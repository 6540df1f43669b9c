// EngineThread owns the thread that computes and queues what is asked of it.
#pragma once

#include "app/worker/engine_worker.h"

#include <QThread>

#include <chrono>
#include <functional>
#include <memory>

using EngineFactory = std::function<std::unique_ptr<engine::Engine>()>;

/// Holds what is to be done at the end about an engine that does not stop, since a step of it is long or a driver does
/// not answer. A thread cannot be ended from outside: who comes back from `giveUp` goes on with it running.
struct EngineEnd {
    std::chrono::milliseconds patience{3000};  // longer than the engine needs to save what it has
    std::function<void()> giveUp = {};
};

/// Owns the engine's thread and the worker on it; queues what is asked of it. Lives on the UI thread, where no call of
/// it waits. Its destructor stops what runs and joins, or waits no longer than it was told.
class EngineThread
{
public:
    explicit EngineThread(const EngineFactory& makeEngine, EngineEnd end = {});
    ~EngineThread();
    EngineThread(const EngineThread&) = delete;
    EngineThread& operator=(const EngineThread&) = delete;

    /// Ends what runs, and all that is asked of it from now on; the destructor then waits for less. Any thread.
    void shutDown() { m_shutdown.request_stop(); }

    /// The object to whose signals others connect; they arrive queued.
    EngineWorker* worker() const { return m_worker; }

    void load(quint64 job, const engine::LoadRequest& request, const std::stop_token& stop);
    void unload(quint64 job);  // answer: unloaded
    void answer(const QString& conversation, const QStringList& path, const std::vector<AskedAnswer>& asked);
    /// Makes one answer alone.
    void generate(quint64 turn, const QString& conversation, const engine::Request& request,
                  const std::stop_token& stop);
    void branchConversation(const QString& from, const QString& to);
    void endConversation(const QString& conversation);
    void pin(const QString& conversation, const std::vector<engine::TokenRange>& tokens);
    /// Answers: tokensCounted and promptCounted; with nothing when it was stopped, or another model was asked for
    /// meanwhile: that does not wait for a count.
    void countTokens(quint64 job, const QString& text, const std::stop_token& stop = {});
    void countPrompt(quint64 job, const engine::Request& request, const std::stop_token& stop = {});

private:
    void endCounts();

    std::stop_source m_shutdown;
    std::stop_source m_counts;  // of those that were asked for since the last model was
    EngineEnd m_end;
    std::unique_ptr<QThread> m_thread;
    EngineWorker* m_worker;  // deleted on its own thread when that ends
};
