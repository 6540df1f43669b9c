#include "app/log/log_feed.h"

#include <utility>

void LogFeed::add(LogLine line)
{
    const std::lock_guard lock(m_mutex);
    if (m_lines.size() >= kMostLines)
        m_lines.removeFirst();
    m_lines.append(std::move(line));
    if (m_listener && !std::exchange(m_told, true))
        m_listener();
}

QList<LogLine> LogFeed::take()
{
    const std::lock_guard lock(m_mutex);
    m_told = false;
    return std::exchange(m_lines, {});
}

void LogFeed::setListener(std::function<void()> listener)
{
    const std::lock_guard lock(m_mutex);
    m_listener = std::move(listener);
    m_told = m_listener && !m_lines.isEmpty();
    if (m_told)
        m_listener();
}
