// endProcessAfter() ends a process that does not come to its end by itself.
#pragma once

#include <chrono>

/// Ends the process with `code` when it is still there after `patience`, whatever holds it up: a disk that does not
/// answer, a driver, a thread of a pool. Nothing more is written then but the log, as far as that can be. To be called
/// when the window closes, before anything waits for anything.
void endProcessAfter(std::chrono::milliseconds patience, int code);
