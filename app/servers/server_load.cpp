#include "app/servers/server_load.h"

#include "app/fetching/failure_sentence.h"
#include "app/system/remote_path.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace {

constexpr int kSeldom = 60;
constexpr qsizetype kMinute = 60;  // readings
constexpr qsizetype kOnEnd = 3;    // readings in a row: a queue that lasts so long is no chance

QVariant asVariant(const std::optional<double>& value, double factor = 1)
{
    return value ? QVariant(*value * factor) : QVariant();
}

void addReading(QList<double>& readings, const std::optional<double>& value)
{
    if (!value) {
        readings.clear();  // readings before a gap are not drawn beside those after it
        return;
    }
    readings.append(*value);
    if (readings.size() > ServerLoad::kMostReadings)
        readings.removeFirst();
}

void addTo(std::optional<double>& sum, const std::optional<double>& more)
{
    if (more)
        sum = sum.value_or(0) + *more;
}

void addTo(remote::LatencyHistogram& sum, const std::optional<remote::LatencyHistogram>& more)
{
    if (more)
        sum.add(*more);
}

}  // namespace

LatencyShares::LatencyShares(const remote::LatencyHistogram& times)
{
    constexpr double kHalf = 0.5, kMost = 0.99, kMs = 1000;
    if (const auto half = times.quantile(kHalf)) {
        halfMs = half->seconds * kMs;
        halfIsMore = half->more;
    }
    if (const auto most = times.quantile(kMost)) {
        mostMs = most->seconds * kMs;
        mostIsMore = most->more;
    }
}

ServerLoad::ServerLoad(std::shared_ptr<RemoteDoor> door, int interval_ms, QObject* parent)
    : QObject(parent)
    , m_door(std::move(door))
    , m_interval_ms(interval_ms)
{
    connect(&m_timer, &QTimer::timeout, this, &ServerLoad::ask);
}

void ServerLoad::setShown(bool shown)
{
    if (std::exchange(m_shown, shown) == shown)
        return;
    follow();
    Q_EMIT shownChanged();
}

void ServerLoad::onModel(const QString& path, const QString& server)
{
    m_path = path;
    m_server = server;
    m_conversations.clear();
    m_turns.clear();
    forget();
    follow();
    Q_EMIT changed();
}

void ServerLoad::onConversation(const QString& conversation)
{
    m_conversation = conversation;
    askAnew();
    Q_EMIT changed();
}

void ServerLoad::onTurn(quint64 turn, const QString& conversation)
{
    m_turns.insert(turn, conversation);
}

void ServerLoad::onFrame(quint64 turn, const engine::Telemetry& frame)
{
    const auto conversation = m_turns.constFind(turn);
    if (conversation == m_turns.cend() || m_conversations.value(*conversation).sequence == frame.sequence)
        return;
    m_conversations[*conversation].sequence = frame.sequence;
    if (*conversation == m_conversation)
        askAnew();
}

/// Drops a question that runs, and asks again.
void ServerLoad::askAnew()
{
    if (!m_timer.isActive())
        return;
    m_thread.stop();
    m_asking = false;
    ask();
}

/// Starts or stops asking, as the panel and the model want it.
void ServerLoad::follow()
{
    const bool wanted = m_shown && m_door && !m_server.isEmpty();
    if (wanted == m_timer.isActive())
        return;
    if (!wanted) {
        m_timer.stop();
        m_thread.stop();
        m_asking = false;
        return;
    }
    forget();  // readings from before would be drawn without a gap
    m_timer.start(m_interval_ms);
    ask();
}

void ServerLoad::forget()
{
    m_thread.stop();
    m_asking = false;
    m_last.reset();
    m_trouble.clear();
    m_perSecond = {};
    m_preemptions = m_hits = m_looked = std::nullopt;
    m_firstToken = m_tokenGap = {};
    m_speedStood = false;
    for (QList<double>* readings : {&m_kv, &m_running, &m_waiting, &m_speed, &m_pushedOut})
        readings->clear();
    m_restarts = 0;
}

void ServerLoad::ask()
{
    if (std::exchange(m_asking, true))
        return;  // a slow server is not asked twice at a time
    m_thread.ask([door = m_door, path = std::filesystem::path(m_path.toStdU16String()),
                  conversation = m_conversations.value(m_conversation).sequence](
                     const std::stop_token& stop) { return door->numbers(path, conversation, stop); },
                 [this](const net::Result<remote::ServerNumbers>& numbers) { onNumbers(numbers); });
}

void ServerLoad::onNumbers(const net::Result<remote::ServerNumbers>& numbers)
{
    m_asking = false;
    if (!numbers) {
        m_trouble = numbers.error().kind == net::Failure::Kind::NotFound
                        ? tr("This server does not show how busy it is. Some have to be told to when they are started.")
                        : failureSentence(numbers.error());
        m_last.reset();
        m_perSecond = {};
        for (QList<double>* readings : {&m_kv, &m_running, &m_waiting, &m_speed, &m_pushedOut})
            readings->clear();
        if (numbers.error().kind == net::Failure::Kind::NotFound)
            m_timer.setInterval(kSeldom * m_interval_ms);  // the server will not have such a page a second later
        Q_EMIT changed();
        return;
    }
    if (m_last && m_last->server != numbers->server)
        forget();  // another server of the same name answers now, with other counters
    m_trouble.clear();
    m_timer.setInterval(m_interval_ms);
    const double seconds = m_last ? double(m_sinceLast.nsecsElapsed()) / 1e9 : 0;
    m_sinceLast.start();
    const remote::CounterChange change = m_last ? remote::change_between(*m_last, *numbers) : remote::CounterChange();
    m_restarts += change.restarted ? 1 : 0;
    addTo(m_preemptions, change.preemptions);
    addTo(m_hits, change.prefix_hits);
    addTo(m_looked, change.prefix_tokens);
    addTo(m_firstToken, change.first_token);
    addTo(m_tokenGap, change.token_gap);
    const auto rate = [&](const std::optional<double>& rise) {
        return rise && seconds > 0 ? std::optional(*rise / seconds) : std::nullopt;
    };
    m_perSecond = {};
    const bool stands = change.answer_tokens == 0.0 && numbers->running.value_or(0) > 0;
    if (!stands && !m_speedStood)
        m_perSecond.answer_tokens = rate(change.answer_tokens);
    m_speedStood = stands;
    m_perSecond.offloaded_bytes = rate(change.offloaded_bytes);
    m_perSecond.fetched_bytes = rate(change.fetched_bytes);
    addReading(m_kv, numbers->kv_share);
    addReading(m_running, numbers->running);
    addReading(m_waiting, numbers->waiting);
    addReading(m_speed, m_perSecond.answer_tokens);
    addReading(m_pushedOut, change.preemptions);
    m_last = *numbers;
    Q_EMIT changed();
}

void ServerLoad::onAnswer(quint64 turn, std::optional<double> firstTokenMs)
{
    const QString conversation = m_turns.take(turn);
    if (m_server.isEmpty())
        return;
    m_conversations[conversation].firstTokenMs = firstTokenMs;
    Q_EMIT changed();
}

ServerFacts ServerLoad::facts() const
{
    ServerFacts facts;
    if (!m_last)
        return facts;
    facts.kvShare = m_last->kv_share;
    if (!m_pushedOut.isEmpty())
        facts.pushedOut =
            std::accumulate(m_pushedOut.end() - std::min(kMinute, m_pushedOut.size()), m_pushedOut.end(), 0.0);
    if (m_waiting.size() >= kOnEnd)
        facts.waiting = *std::min_element(m_waiting.end() - kOnEnd, m_waiting.end());
    facts.firstTokenMs = m_conversations.value(m_conversation).firstTokenMs;
    if (const auto half = m_firstToken.quantile(0.5); half && !half->more)
        facts.serverFirstTokenMs = half->seconds * 1000;
    return facts;
}

QString ServerLoad::server() const
{
    const QString host = m_last && !m_server.isEmpty() ? hostOf(QString::fromStdString(m_last->server)) : QString();
    return host.isEmpty() || host == m_server ? m_server : QStringLiteral("%1 (%2)").arg(m_server, host);
}

QVariant ServerLoad::kvPercent() const
{
    return m_last ? asVariant(m_last->kv_share, 100) : QVariant();
}

QVariant ServerLoad::kvTokens() const
{
    return m_last ? asVariant(m_last->kv_tokens) : QVariant();
}

QVariant ServerLoad::kvBytes() const
{
    return m_last ? asVariant(m_last->kv_bytes) : QVariant();
}

QVariant ServerLoad::running() const
{
    return m_last ? asVariant(m_last->running) : QVariant();
}

QVariant ServerLoad::waiting() const
{
    return m_last ? asVariant(m_last->waiting) : QVariant();
}

QVariant ServerLoad::preemptions() const
{
    return asVariant(m_preemptions);
}

QVariant ServerLoad::tokensPerSecond() const
{
    return asVariant(m_perSecond.answer_tokens);
}

QVariant ServerLoad::hitPercent() const
{
    return m_hits && m_looked && *m_looked > 0 ? QVariant(std::min(100.0, 100 * *m_hits / *m_looked)) : QVariant();
}

QVariant ServerLoad::offloadedPerSecond() const
{
    return asVariant(m_perSecond.offloaded_bytes);
}

QVariant ServerLoad::fetchedPerSecond() const
{
    return asVariant(m_perSecond.fetched_bytes);
}

#include "moc_server_load.cpp"
