// Asks the system when this program started and whether a window can be drawn, and lets drawing go before computing.
#pragma once

#include <chrono>
#include <optional>

/// Returns how long this process has existed, counted from when the system made it: loading the program is part of what
/// a user waits for.
std::optional<std::chrono::milliseconds> processAge();

/// Says whether the graphics driver can draw a window. False where there is none, or a broken one: there Qt would end
/// the program. Needs the application.
bool graphicsDriverDraws();

/// Asks for a higher priority for the calling thread, not for threads that it starts afterwards. Without it, drawing
/// waits for a core where many threads keep them all busy: one frame in a hundred for 20 ms. Where the system refuses
/// or has no such priority, nothing changes.
void drawFirst();
