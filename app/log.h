// The program's log.
#pragma once

/// Sends the log, and Qt's own messages, to stderr and to a file in the state folder that is turned over when it grows.
/// Conversations are never logged.
void startLog();
