#include "app/store/store_writer.h"

#include <utility>

using namespace std::chrono_literals;

namespace {

constexpr auto kBetweenAttempts = 3s;

}  // namespace

StoreWriter::StoreWriter(const QString& name, std::function<void(const QSqlError&)> onFailure)
    : m_name(name)
    , m_onFailure(std::move(onFailure))
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

void StoreWriter::ask(Job job)
{
    {
        const std::lock_guard lock(m_mutex);
        if (!job.replaces.isEmpty() && !m_jobs.empty() && m_jobs.back().replaces == job.replaces) {
            m_jobs.back() = std::move(job);
        } else {
            m_jobs.push_back(std::move(job));
            ++m_asked;
        }
    }
    m_work.notify_one();
}

void StoreWriter::flush()
{
    std::unique_lock lock(m_mutex);
    const quint64 wanted = m_asked;
    if (m_written >= wanted)
        return;
    m_hurry = true;
    m_work.notify_one();
    // An attempt under way may have begun before the newest job; the one after it has seen them all.
    const quint64 attempt = m_attempts + 2;
    m_settled.wait(lock, [&] { return m_written >= wanted || (m_failing && m_attempts >= attempt); });
    m_hurry = false;
}

void StoreWriter::run()
{
    const Database database(m_name, Database::Access::Write);
    while (auto jobs = next()) {
        const Outcome outcome = write(database, *jobs);
        settle(outcome, std::move(*jobs));
    }
}

// Waits for work; nothing: the store is closing and all has been tried.
std::optional<std::deque<StoreWriter::Job>> StoreWriter::next()
{
    std::unique_lock lock(m_mutex);
    const auto wanted = [this] { return m_ending || (!m_jobs.empty() && (!m_failing || m_hurry)); };
    if (m_failing)
        m_work.wait_for(lock, kBetweenAttempts, wanted);
    else
        m_work.wait(lock, wanted);
    if (m_ending && (m_jobs.empty() || m_lastTry))
        return {};
    m_lastTry = m_ending;
    return std::exchange(m_jobs, {});
}

StoreWriter::Outcome StoreWriter::write(const Database& database, std::deque<Job>& jobs)
{
    std::optional<QSqlError> refused;  // a job that no attempt will make right; the others go on
    const auto failed = [&](const QSqlError& why) {
        database.ran(QStringLiteral("ROLLBACK"));
        if (!std::exchange(m_failureTold, true))
            m_onFailure(why);
        return Outcome::KeepTrying;
    };
    if (!database.ran(QStringLiteral("BEGIN IMMEDIATE")))
        return failed(database.error());
    for (const Job& job : jobs) {
        if (!database.ran(QStringLiteral("SAVEPOINT job")))
            return failed(database.error());
        if (const QSqlError why = job.work(database); why.type() != QSqlError::NoError) {
            if (isForWant(why))
                return failed(why);
            refused = why;
            if (!database.ran(QStringLiteral("ROLLBACK TO job")))
                return failed(database.error());
        }
        if (!database.ran(QStringLiteral("RELEASE job")))
            return failed(database.error());
    }
    if (!database.ran(QStringLiteral("COMMIT")))
        return failed(database.error());
    m_failureTold = false;
    if (refused)
        m_onFailure(*refused);
    return Outcome::Written;
}

void StoreWriter::settle(Outcome outcome, std::deque<Job> jobs)
{
    {
        const std::lock_guard lock(m_mutex);
        ++m_attempts;
        m_failing = outcome == Outcome::KeepTrying;
        if (m_failing)
            m_jobs.insert(m_jobs.begin(), std::make_move_iterator(jobs.begin()), std::make_move_iterator(jobs.end()));
        else
            m_written += jobs.size();
    }
    m_settled.notify_all();
}
