// processAge() tells how long this process has existed.
#pragma once

#include <chrono>
#include <optional>

/// Counted from when the system made this process: loading the program is part of what a user waits for.
std::optional<std::chrono::milliseconds> processAge();
