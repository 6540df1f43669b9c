#include "app/store/store_writer.h"

#include "app/store/schema.h"

#include <algorithm>
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
            job.number = m_jobs.back().number;
            m_jobs.back() = std::move(job);
        } else {
            job.number = ++m_asked;
            m_jobs.push_back(std::move(job));
        }
    }
    m_work.notify_one();
}

void StoreWriter::flush()
{
    std::unique_lock lock(m_mutex);
    waitFor(lock, m_asked);
}

void StoreWriter::waitFor(const QString& conversation)
{
    const auto isMeant = [&](const QString& concerns) {
        return !concerns.isEmpty() && (conversation == any() || concerns == any() || concerns == conversation);
    };
    std::unique_lock lock(m_mutex);
    quint64 wanted = 0;
    for (const auto& [concerns, number] : m_underWay)
        if (isMeant(concerns))
            wanted = number;
    for (const Job& job : m_jobs)
        if (isMeant(job.concerns))
            wanted = job.number;
    waitFor(lock, wanted);
}

void StoreWriter::waitFor(std::unique_lock<std::mutex>& lock, quint64 wanted)
{
    if (m_written >= wanted)
        return;
    m_hurry = true;
    m_work.notify_one();
    // An attempt under way may have begun before the newest job; the one after it has seen them all.
    const quint64 attempt = m_attempts + 2;
    m_settled.wait(lock, [&] { return m_written >= wanted || (m_failing && m_attempts >= attempt); });
    m_hurry = false;
}

void StoreWriter::waitAWhile(std::chrono::milliseconds longest)
{
    std::unique_lock lock(m_mutex);
    m_settled.wait_for(lock, longest, [this, wanted = m_asked] { return m_written >= wanted || m_failing; });
}

void StoreWriter::run()
{
    const Database database(m_name, Database::Access::Write);
    while (auto jobs = next()) {
        write(database, *jobs);
        settle(std::move(*jobs));
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
    for (const Job& job : m_jobs)
        m_underWay.emplace_back(job.concerns, job.number);
    return std::exchange(m_jobs, {});
}

// Together; if that cannot be, each by itself, so that the one that stands in the way costs no other. Takes from the
// front what is settled; what is left is to be tried again.
void StoreWriter::write(const Database& database, std::deque<Job>& jobs)
{
    std::size_t count = jobs.size();
    while (!jobs.empty()) {
        count = std::min(count, jobs.size());
        const QSqlError why = writeTogether(database, jobs, count);
        if (why.type() == QSqlError::NoError) {
            m_failureTold = false;
        } else if (isForWant(why)) {
            tell(why);
            return;
        } else if (mayBeTheIndex(why) && !std::exchange(m_indexMadeAnew, true)) {
            writeTogether(database, {Job{.work = schema::makeIndexesAnew, .concerns = {}}}, 1);
            continue;
        } else if (count > 1) {
            count = 1;
            continue;
        } else {
            tell(why);  // no attempt will make it right
        }
        for (std::size_t i = 0; i < count; ++i)
            if (jobs[i].done)
                jobs[i].done(why);
        jobs.erase(jobs.begin(), jobs.begin() + std::ptrdiff_t(count));
    }
}

// One transaction; no error: it is on disk.
QSqlError StoreWriter::writeTogether(const Database& database, const std::deque<Job>& jobs, std::size_t count)
{
    QSqlError why;
    if (!database.ran(QStringLiteral("BEGIN IMMEDIATE")))
        return database.error();
    for (std::size_t i = 0; i < count && why.type() == QSqlError::NoError; ++i)
        why = jobs[i].work(database);
    if (why.type() == QSqlError::NoError && !database.ran(QStringLiteral("COMMIT")))
        why = database.error();
    if (why.type() != QSqlError::NoError)
        database.ran(QStringLiteral("ROLLBACK"));  // SQLite may have done so already
    return why;
}

void StoreWriter::tell(const QSqlError& why)
{
    if (!std::exchange(m_failureTold, true))
        m_onFailure(why);
}

void StoreWriter::settle(std::deque<Job> left)
{
    {
        const std::lock_guard lock(m_mutex);
        ++m_attempts;
        m_written = left.empty() ? m_underWay.back().second : left.front().number - 1;
        m_underWay.clear();
        m_failing = !left.empty();
        m_jobs.insert(m_jobs.begin(), std::make_move_iterator(left.begin()), std::make_move_iterator(left.end()));
    }
    m_settled.notify_all();
}
