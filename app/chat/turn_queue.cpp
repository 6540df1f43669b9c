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

std::optional<TurnQueue::Turn> TurnQueue::startNext()
{
    if (m_running || m_waiting.isEmpty())
        return {};
    m_running = m_waiting.takeFirst();
    for (qsizetype i = 0; i < m_running->answers.size(); ++i)
        m_making.append(m_running->number + quint64(i));
    m_wanted = true;
    return m_running;
}

std::optional<TurnQueue::Turn> TurnQueue::end(quint64 number)
{
    if (!m_making.removeOne(number))
        return {};
    const std::optional<Turn> turn = m_running;
    if (m_making.isEmpty())
        m_running.reset();
    return m_wanted ? turn : std::nullopt;
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
    if (m_running && m_running->conversation == conversation)
        m_wanted = false;
}

const TurnQueue::Turn* TurnQueue::running() const
{
    return m_running && m_wanted ? &*m_running : nullptr;
}

const TurnQueue::Turn* TurnQueue::running(quint64 number) const
{
    const Turn* const turn = running();
    return turn && m_making.contains(number) ? turn : nullptr;
}

bool TurnQueue::contains(const QString& conversation) const
{
    return position(conversation).has_value();
}

std::optional<int> TurnQueue::position(const QString& conversation) const
{
    const Turn* const turn = running();
    if (turn && turn->conversation == conversation)
        return 0;
    for (qsizetype i = 0; i < m_waiting.size(); ++i)
        if (m_waiting[i].conversation == conversation)
            return int(i) + 1;
    return {};
}
