#include "app/chat/turn_queue.h"

#include <algorithm>
#include <utility>

std::optional<quint64> TurnQueue::add(const QString& conversation, const QString& answer)
{
    if (contains(conversation))
        return {};
    m_waiting.append({++m_last, conversation, answer});
    return m_last;
}

std::optional<TurnQueue::Turn> TurnQueue::startNext()
{
    if (m_running || m_waiting.isEmpty())
        return {};
    m_running = m_waiting.takeFirst();
    m_wanted = true;
    return m_running;
}

std::optional<TurnQueue::Turn> TurnQueue::end(quint64 number)
{
    if (!m_running || m_running->number != number)
        return {};
    const std::optional<Turn> ended = std::exchange(m_running, std::nullopt);
    return m_wanted ? ended : std::nullopt;
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
    return turn && turn->number == number ? turn : nullptr;
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
