// Tells what the system knows of this program's start: when it was, and whether a window can be drawn.
#pragma once

#include <chrono>
#include <optional>

/// Returns how long this process has existed, counted from when the system made it: loading the program is part of what
/// a user waits for.
std::optional<std::chrono::milliseconds> processAge();

/// Says whether the graphics driver can draw a window. False where there is none, or a broken one: there Qt would end
/// the program. Needs the application.
bool graphicsDriverDraws();
