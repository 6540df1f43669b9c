// endProcessAfter() ends a process that does not end by itself.
#pragma once

#include <chrono>

/// Ends the process with `code` if it still runs after `patience`, whatever holds it up: a disk that does not answer, a
/// driver, a thread of a pool. Only the log is still written then, if that is possible. Call it when the window closes,
/// before anything is waited for.
void endProcessAfter(std::chrono::milliseconds patience, int code);
