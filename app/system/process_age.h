// How long the program has been there.
#pragma once

#include <chrono>
#include <optional>

/// Since the system made this process: what a user waits for includes loading the program itself.
std::optional<std::chrono::milliseconds> processAge();
