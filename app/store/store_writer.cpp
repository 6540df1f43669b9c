#include "app/store/store_writer.h"

#include "app/store/schema.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <utility>

using namespace std::chrono_literals;

namespace {

constexpr auto kBatch = 50ms;

/// Does the work, and returns an exception as an error: leaving the thread it would end the program.
QSqlError carriedOut(const StoreWriter::Work& work, const Database& database)
{
    try {
        return work(database);
    } catch (const std::bad_alloc&) {
        return noMemory();
    } catch (const std::exception& thrown) {
        return {QString(), QString::fromLocal8Bit(thrown.what()), QSqlError::UnknownError, QStringLiteral("1")};
    }
}

}  // namespace

StoreWriter::StoreWriter(const QString& name, Listener listener, std::chrono::milliseconds betweenAttempts)
    : m_name(name)
    , m_listener(std::move(listener))
    , m_betweenAttempts(betweenAttempts)
    , m_thread([this] { run(); })
{
}

StoreWriter::~StoreWriter()
{
    {
        const std::lock_guard lock(m_mutex);
        m_ending = true;
    }
    m_work.notify_one();
    m_thread.join();
}

quint64 StoreWriter::ask(Job job)
{
    quint64 number = 0;
    {
        const std::lock_guard lock(m_mutex);
        const auto unnamed =
            std::find_if(m_jobs.rbegin(), m_jobs.rend(), [](const Job& waiting) { return waiting.replaces.isEmpty(); });
        const auto known = std::find_if(m_jobs.rbegin(), unnamed,
                                        [&](const Job& waiting) { return waiting.replaces == job.replaces; });
        if (!job.replaces.isEmpty() && known != unnamed) {
            number = job.number = known->number;
            *known = std::move(job);
        } else {
            number = job.number = ++m_asked;
            m_jobs.push_back(std::move(job));
        }
    }
    m_work.notify_one();
    return number;
}

void StoreWriter::askBehind(Job job)
{
    {
        const std::lock_guard lock(m_mutex);
        m_behind.push_back(std::move(job));
    }
    m_work.notify_one();
}

quint64 StoreWriter::written() const
{
    const std::lock_guard lock(m_mutex);
    return m_written;
}

void StoreWriter::flush()
{
    std::unique_lock lock(m_mutex);
    if (m_written >= m_asked)
        return;
    m_hurry = true;
    m_work.notify_one();
    // An attempt that runs now may have begun before the newest job came; the one after it includes all jobs.
    m_settled.wait(lock, [this, wanted = m_asked, attempt = m_attempts + 2] {
        return m_written >= wanted || (m_failing && m_attempts >= attempt);
    });
    m_hurry = false;
}

void StoreWriter::between(const std::function<void()>& read)
{
    {
        std::unique_lock lock(m_mutex);
        m_reading = true;
        m_settled.wait(lock, [this] { return !m_writing; });
    }
    read();
    {
        const std::lock_guard lock(m_mutex);
        m_reading = false;
    }
    m_work.notify_one();
}

void StoreWriter::run()
{
    std::optional<Database> database(std::in_place, m_name, Database::Access::Write);
    while (auto batch = next()) {
        if (!database->isOpen())  // it was held by another program
            database.emplace(m_name, Database::Access::Write);
        const quint64 newest = batch->jobs.back().number;
        const Outcome outcome = write(*database, batch->jobs);
        settle(std::move(*batch), newest, outcome);
    }
}

// Waits for work and returns a batch; empty: the store is closing and all has been tried.
std::optional<StoreWriter::Batch> StoreWriter::next()
{
    std::unique_lock lock(m_mutex);
    const auto something = [this] { return !m_jobs.empty() || !m_behind.empty(); };
    const auto wanted = [&] { return m_ending || (something() && !m_reading && (!m_failing || m_hurry)); };
    do {
        if (m_failing)
            m_work.wait_for(lock, m_betweenAttempts, wanted);
        else
            m_work.wait(lock, wanted);
    } while (!m_ending && (m_reading || !something()));
    if (m_ending && (m_jobs.empty() || (m_lastTry && m_failing)))
        return {};
    m_lastTry = m_ending;
    Batch batch{.jobs = {}, .behind = m_jobs.empty()};
    std::deque<Job>& from = batch.behind ? m_behind : m_jobs;
    for (qint64 bytes = 0; !from.empty() && (batch.jobs.empty() || bytes + from.front().bytes <= kBatch_bytes);) {
        bytes += from.front().bytes;
        batch.jobs.push_back(std::move(from.front()));
        from.pop_front();
    }
    m_writing = true;
    return batch;
}

// Writes the jobs together; if that fails, each by itself, so that a bad one costs no other. Removes those from the
// front that were written or dropped; the others are tried again later.
StoreWriter::Outcome StoreWriter::write(const Database& database, std::deque<Job>& jobs)
{
    std::size_t most = std::max<std::size_t>(jobs.size(), 2);
    while (!jobs.empty()) {
        auto [why, count] = writeTogether(database, jobs, std::min(most, jobs.size()));
        const bool written = why.type() == QSqlError::NoError;
        if (written) {
            m_failureTold = false;
        } else if (isForWant(why)) {
            tell(why);
            return Outcome::Failing;
        } else if (mayBeTheIndex(why) && !std::exchange(m_indexMadeAnew, true)) {
            writeTogether(database, {Job{.work = schema::makeIndexesAnew}}, 1);
            continue;
        } else if (std::min(most, jobs.size()) > 1) {
            most = 1;
            continue;
        } else {
            tell(why);  // another attempt would fail, too
            count = 1;
        }
        for (std::size_t i = 0; i < count; ++i)
            if (jobs[i].done)
                jobs[i].done(why);
        jobs.erase(jobs.begin(), jobs.begin() + std::ptrdiff_t(count));
        if (written && most > 1)
            break;  // more urgent jobs may have come
    }
    return Outcome::Written;
}

// Writes as many jobs as there is time for in one transaction; no error: they are on disk.
StoreWriter::Attempt StoreWriter::writeTogether(const Database& database, const std::deque<Job>& jobs, std::size_t most)
{
    // One that is not open may lack settings without which nothing must be written.
    if (!database.isOpen() || !database.ran(QStringLiteral("BEGIN IMMEDIATE")))
        return {database.error()};
    Attempt attempt;
    const auto over = std::chrono::steady_clock::now() + kBatch;
    while (attempt.count < most && attempt.why.type() == QSqlError::NoError &&
           (attempt.count == 0 || std::chrono::steady_clock::now() < over))
        attempt.why = carriedOut(jobs[attempt.count++].work, database);
    if (attempt.why.type() == QSqlError::NoError && !database.ran(QStringLiteral("COMMIT")))
        attempt.why = database.error();
    if (attempt.why.type() != QSqlError::NoError)
        database.ran(QStringLiteral("ROLLBACK"));  // SQLite may have done so already
    return attempt;
}

void StoreWriter::tell(const QSqlError& why)
{
    if (!std::exchange(m_failureTold, true))
        m_listener.failed(why);
}

void StoreWriter::settle(Batch left, quint64 newest, Outcome outcome)
{
    bool caughtUp = false;
    {
        const std::lock_guard lock(m_mutex);
        ++m_attempts;
        m_writing = false;
        m_failing = outcome == Outcome::Failing;
        if (!left.behind)
            m_written = left.jobs.empty() ? newest : left.jobs.front().number - 1;
        std::deque<Job>& back = left.behind ? m_behind : m_jobs;
        back.insert(back.begin(), std::make_move_iterator(left.jobs.begin()), std::make_move_iterator(left.jobs.end()));
        caughtUp = !m_failing && m_jobs.empty() && (!left.behind || m_behind.empty());
    }
    m_settled.notify_all();
    if (caughtUp)
        m_listener.caughtUp();
}
