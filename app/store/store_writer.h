// StoreWriter writes conversations to the database.
#pragma once

#include "app/store/database.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

/// Carries out writes on a thread and a connection of its own: the user's changes in order, and after them jobs that
/// may take long, such as an import. Waiting jobs share a transaction, up to the size of a batch, so that a change of
/// the user's never waits longer than for one; each job is written whole or not at all. A job that fails for want of
/// space, memory or rights is tried again; one that can never be written is dropped. Owned by its ConversationStore,
/// whose thread calls it.
class StoreWriter
{
public:
    static constexpr qint64 kBatch_bytes = 1024 * 1024;

    using Work = std::function<QSqlError(const Database&)>;  // no error: done; may be called again, to try again
    struct Job {
        Work work;
        qint64 bytes = 0;       // about as many as the job writes
        QString replaces = {};  // a waiting job of this name, unless one without a name came after; empty: none
        std::function<void(const QSqlError&)> done = {};  // on the writer's thread: on disk or, with an error, dropped
        quint64 number = 0;                               // given by the writer
    };
    /// Both functions are called on the writer's thread.
    struct Listener {
        std::function<void(const QSqlError&)> failed;  // once, until a write succeeds again
        std::function<void()> caughtUp;                // all changes of the user's are on disk, or an import is
    };

    /// `betweenAttempts`: until what failed is tried again.
    StoreWriter(const QString& name, Listener listener,
                std::chrono::milliseconds betweenAttempts = std::chrono::seconds(3));
    /// Tries once more to write the user's changes; those that fail, and imports that have not ended, are lost.
    ~StoreWriter();

    quint64 ask(Job job);  // its number
    void askBehind(Job job);
    /// Returns the number up to which all that was asked for is on disk, or was given up.
    quint64 written() const;
    /// Waits until what was asked for so far, but for what is behind, is on disk or has just failed to get there.
    void flush();
    /// Calls `read` while nothing is being written; waits for one batch at most.
    void between(const std::function<void()>& read);

private:
    struct Batch {
        std::deque<Job> jobs;
        bool behind = false;
    };
    enum class Outcome { Written, Failing };

    void run();
    std::optional<Batch> next();
    Outcome write(const Database& database, std::deque<Job>& jobs);
    struct Attempt {
        QSqlError why;
        std::size_t count = 0;  // jobs that are written, where there is no error
    };
    static Attempt writeTogether(const Database& database, const std::deque<Job>& jobs, std::size_t most);
    void tell(const QSqlError& why);
    void settle(Batch left, quint64 newest, Outcome outcome);

    const QString m_name;
    const Listener m_listener;
    const std::chrono::milliseconds m_betweenAttempts;
    mutable std::mutex m_mutex;
    std::condition_variable m_work;     // something to do
    std::condition_variable m_settled;  // something was done
    std::deque<Job> m_jobs;
    std::deque<Job> m_behind;
    quint64 m_asked = 0;    // the newest job's number
    quint64 m_written = 0;  // number of the newest job that was written or dropped
    quint64 m_attempts = 0;
    bool m_writing = false;
    bool m_failing = false;  // the newest attempt did not reach the disk
    bool m_hurry = false;    // flush() waits
    bool m_reading = false;  // between() reads: nothing may be written
    bool m_ending = false;
    // Used on the writer's thread only:
    bool m_lastTry = false;
    bool m_failureTold = false;
    bool m_indexMadeAnew = false;
    std::thread m_thread;
};
