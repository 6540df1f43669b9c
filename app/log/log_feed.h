// LogFeed hands the newest lines of the log to the page.
#pragma once

#include <QList>
#include <QString>

#include <functional>
#include <mutex>

struct LogLine {
    qint64 ms = 0;  // since 1970, UTC
    int level = 0;  // SettingsController::LogLevel
    QString text;
};

/// Takes lines from any thread and keeps the newest of them until take(). The listener is called at the first line
/// after each take(), on the thread that logs and with the feed locked: it may only post an event. Owned by the log and
/// by its reader.
class LogFeed
{
public:
    static constexpr qsizetype kMostLines = 2000;

    void add(LogLine line);
    QList<LogLine> take();
    void setListener(std::function<void()> listener);

private:
    std::mutex m_mutex;
    QList<LogLine> m_lines;
    std::function<void()> m_listener;
    bool m_told = false;
};
