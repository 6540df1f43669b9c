// logInfo() writes a line to the log of the program, as do logWarning() and logError().
#pragma once

#include <QString>

// They call spdlog's functions for these levels. Whoever included spdlog instead would compile its templates once more.
// From any thread.
void logInfo(const QString& line);
void logWarning(const QString& line);
void logError(const QString& line);

/// What was logged so far is on disk afterwards.
void flushLog();
