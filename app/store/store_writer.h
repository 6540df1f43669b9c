// Writing conversations to the database.
#pragma once

#include "app/store/attachment_folder.h"
#include "app/store/database.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

/// Carries out writes in order, on a thread and a connection of its own. What has gathered while the disk was busy goes
/// into one transaction; each job in it is whole or not there. What fails for want of space or rights is kept and tried
/// again; what can never be written is dropped, and holds up nothing else. Owned by its ConversationStore, whose thread
/// calls it.
class StoreWriter
{
public:
    using Work = std::function<QSqlError(const Database&)>;  // no error: done
    struct Job {
        Work work;
        QString concerns;       // a conversation, or any(); empty: no conversation that is read
        QString replaces = {};  // a waiting job under the same name, directly before this one; empty: none
        std::function<void(const QSqlError&)> done = {};  // on disk or, with an error, dropped; on the writer's thread
        quint64 number = 0;                               // the writer's own
    };
    static QString any() { return QStringLiteral("*"); }

    /// `onFailure` is called on the writer's thread: once, until a write succeeds again.
    StoreWriter(const QString& name, std::function<void(const QSqlError&)> onFailure);
    /// Writes what is queued; what cannot be written by then is lost.
    ~StoreWriter();

    void ask(Job job);
    /// Waits until what was asked for so far is on disk, or has just failed to get there.
    void flush();
    /// The same for what concerns one conversation, or any().
    void waitFor(const QString& conversation);
    /// Waits for all, but not long.
    void waitAWhile(std::chrono::milliseconds longest);

private:
    void waitFor(std::unique_lock<std::mutex>& lock, quint64 wanted);
    void run();
    std::optional<std::deque<Job>> next();
    void write(const Database& database, std::deque<Job>& jobs);
    static QSqlError writeTogether(const Database& database, const std::deque<Job>& jobs, std::size_t count);
    void tell(const QSqlError& why);
    void settle(std::deque<Job> left);

    const QString m_name;
    const std::function<void(const QSqlError&)> m_onFailure;
    std::mutex m_mutex;
    std::condition_variable m_work;     // something to do
    std::condition_variable m_settled;  // something was done
    std::deque<Job> m_jobs;
    std::vector<std::pair<QString, quint64>> m_underWay;  // what the ones being written concern, and their numbers
    quint64 m_asked = 0;                                  // the newest job's number
    quint64 m_written = 0;                                // or dropped: the number of the newest such
    quint64 m_attempts = 0;
    bool m_failing = false;  // the newest attempt did not reach the disk
    bool m_hurry = false;    // somebody waits
    bool m_ending = false;
    // The writer's own:
    bool m_lastTry = false;
    bool m_failureTold = false;
    bool m_indexMadeAnew = false;
    std::thread m_thread;
};
