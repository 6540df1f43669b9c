// EngineThread owns the engine's thread and queues calls to it.
#pragma once

#include "app/worker/engine_worker.h"

#include <QThread>

#include <chrono>
#include <functional>
#include <memory>

using EngineFactory = std::function<std::unique_ptr<engine::Engine>()>;

/// Says how long the program's end waits for an engine that does not stop, because a step is long or a driver does not
/// answer, and what happens then. A thread cannot be ended from outside: if `giveUp` returns, the program goes on with
/// the thread running.
struct EngineEnd {
    std::chrono::milliseconds patience{3000};  // longer than the engine needs to save what it has
    std::function<void()> giveUp = {};
};

/// Owns the engine's thread and the worker on it, and queues calls to the worker. Lives on the UI thread; no call
/// waits. Its destructor stops what runs and joins the thread, or gives up after EngineEnd's patience.
class EngineThread
{
public:
    explicit EngineThread(const EngineFactory& makeEngine, EngineEnd end = {});
    ~EngineThread();
    EngineThread(const EngineThread&) = delete;
    EngineThread& operator=(const EngineThread&) = delete;

    /// Stops the call that runs, and every later one as it begins; the destructor then has less to wait for. Any
    /// thread.
    void shutDown() { m_shutdown.request_stop(); }

    /// Returns the worker, to connect to its signals, which arrive queued.
    EngineWorker* worker() const { return m_worker; }

    void load(quint64 job, const engine::LoadRequest& request, const std::stop_token& stop);
    void unload(quint64 job);  // answered by EngineWorker::unloaded
    void answer(const QString& conversation, const QStringList& path, const std::vector<AskedAnswer>& asked);
    /// Asks for a single answer.
    void generate(quint64 turn, const QString& conversation, const engine::Request& request,
                  const std::stop_token& stop);
    void branchConversation(const QString& from, const QString& to);
    void endConversation(const QString& conversation);
    void pin(const QString& conversation, const std::vector<engine::TokenRange>& tokens);
    /// Asks how many tokens a text or a prompt has. EngineWorker's tokensCounted and promptCounted say it; they come
    /// without a count where it was stopped, or where another model is being loaded, which does not wait for counts.
    void countTokens(quint64 job, const QString& text, const std::stop_token& stop = {});
    void countPrompt(quint64 job, const engine::Request& request, const std::stop_token& stop = {});

private:
    void endCounts();

    std::stop_source m_shutdown;
    std::stop_source m_counts;  // stops the counts that were asked for since the last load
    EngineEnd m_end;
    std::unique_ptr<QThread> m_thread;
    EngineWorker* m_worker;  // deleted on its own thread when the thread ends
};
