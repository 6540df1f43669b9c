// startLog() starts the program's log.
#pragma once

#include "app/log/log_feed.h"

#include <QString>

#include <memory>

/// Sends the log, and Qt's own messages, to stderr (warnings and worse) and to a file in the folder, which is rotated
/// when it has grown; an empty folder: to stderr alone. What is typed and answered is never logged. Returns the feed of
/// the newest lines.
std::shared_ptr<LogFeed> startLog(const QString& folder);

/// Takes a SettingsController::LogLevel; lines of a lower level are not written.
void setLogLevel(int level);
