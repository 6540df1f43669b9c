// logInfo() writes a line to the log of the program, as do logWarning() and logError().
#pragma once

#include <QString>

// These three call spdlog's functions for their levels. A file that included spdlog instead would compile its templates
// again. Any thread.
void logInfo(const QString& line);
void logWarning(const QString& line);
void logError(const QString& line);

/// Brings what was logged so far to the disk.
void flushLog();
