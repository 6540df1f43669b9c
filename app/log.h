// The program's log.
#pragma once

#include <QString>

/// Sends the log, and Qt's own messages, to stderr and to a file in the folder that is turned over when it grows; an
/// empty folder: to stderr alone. Conversations are never logged.
void startLog(const QString& folder);
