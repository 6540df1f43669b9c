#include "app/system/log_lines.h"

#include <spdlog/spdlog.h>

void logInfo(const QString& line)
{
    spdlog::info("{}", line.toStdString());
}

void logWarning(const QString& line)
{
    spdlog::warn("{}", line.toStdString());
}

void logError(const QString& line)
{
    spdlog::error("{}", line.toStdString());
}

void flushLog()
{
    spdlog::default_logger()->flush();
}
