// logInfo() writes a line to the log of the program, as do logWarning() and logError().
#pragma once

#include <QString>

// They say the same as spdlog's functions, whose templates would be compiled once more in every folder that has
// something to say. From any thread.
void logInfo(const QString& line);
void logWarning(const QString& line);
void logError(const QString& line);

/// What was logged so far is on disk afterwards.
void flushLog();
