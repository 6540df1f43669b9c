#include "app/chat/turn_queue.h"

#include <algorithm>
#include <utility>

std::optional<quint64> TurnQueue::add(const QString& conversation, const QStringList& answers)
{
    if (contains(conversation))
        return {};
    const quint64 first = m_last + 1;
    m_last += quint64(answers.size());
    m_waiting.append({first, conversation, answers});
    return first;
}

std::optional<TurnQueue::Turn> TurnQueue::startNext(int most)
{
    if (m_waiting.isEmpty() || !mayStart(m_waiting.first(), most))
        return {};
    Running started{m_waiting.takeFirst()};
    for (qsizetype i = 0; i < started.turn.answers.size(); ++i)
        started.making.append(started.turn.number + quint64(i));
    m_running.append(started);
    return started.turn;
}

/// Says whether a turn may start now. A conversation that was forgotten and came back waits until its earlier turn has
/// ended.
bool TurnQueue::mayStart(const Turn& turn, int most) const
{
    qsizetype making = 0;
    for (const Running& running : m_running) {
        if (running.turn.conversation == turn.conversation)
            return false;
        making += running.making.size();
    }
    return making == 0 || making + turn.answers.size() <= most;
}

std::optional<TurnQueue::Turn> TurnQueue::end(quint64 number)
{
    const auto found = std::find_if(m_running.begin(), m_running.end(),
                                    [number](const Running& running) { return running.making.contains(number); });
    if (found == m_running.end())
        return {};
    found->making.removeOne(number);
    std::optional<Turn> turn = found->wanted ? std::optional(found->turn) : std::nullopt;
    if (found->making.isEmpty())
        m_running.erase(found);
    return turn;
}

std::optional<TurnQueue::Turn> TurnQueue::removeWaiting(const QString& conversation)
{
    const auto found = std::find_if(m_waiting.begin(), m_waiting.end(),
                                    [&](const Turn& turn) { return turn.conversation == conversation; });
    if (found == m_waiting.end())
        return {};
    Turn removed = *found;
    m_waiting.erase(found);
    return removed;
}

QList<TurnQueue::Turn> TurnQueue::removeAllWaiting()
{
    return std::exchange(m_waiting, {});
}

void TurnQueue::forget(const QString& conversation)
{
    removeWaiting(conversation);
    for (Running& running : m_running)
        if (running.turn.conversation == conversation)
            running.wanted = false;
}

QList<TurnQueue::Turn> TurnQueue::running() const
{
    QList<Turn> turns;
    for (const Running& running : m_running)
        if (running.wanted)
            turns.append(running.turn);
    return turns;
}

const TurnQueue::Turn* TurnQueue::running(quint64 number) const
{
    for (const Running& running : m_running)
        if (running.wanted && running.making.contains(number))
            return &running.turn;
    return nullptr;
}

const TurnQueue::Turn* TurnQueue::runningOf(const QString& conversation) const
{
    for (const Running& running : m_running)
        if (running.wanted && running.turn.conversation == conversation)
            return &running.turn;
    return nullptr;
}

bool TurnQueue::busyWith(quint64 first) const
{
    return std::any_of(m_running.begin(), m_running.end(),
                       [first](const Running& running) { return running.turn.number == first; });
}

bool TurnQueue::contains(const QString& conversation) const
{
    return position(conversation).has_value();
}

std::optional<int> TurnQueue::position(const QString& conversation) const
{
    if (runningOf(conversation))
        return 0;
    for (qsizetype i = 0; i < m_waiting.size(); ++i)
        if (m_waiting[i].conversation == conversation)
            return int(i) + 1;
    return {};
}
