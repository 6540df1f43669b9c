// startLog() starts the program's log.
#pragma once

#include "app/log/log_feed.h"

#include <QString>

#include <memory>

/// Sends the log, and Qt's own messages, to stderr and to a file in the folder that is turned over when it grows; an
/// empty folder: to stderr alone. What is typed and answered is never logged. The feed has the newest lines.
std::shared_ptr<LogFeed> startLog(const QString& folder);

/// SettingsController::LogLevel: what is less is not written.
void setLogLevel(int level);
