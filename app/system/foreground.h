// letRaiseItsWindow() lets another program bring its window to the front.
#pragma once

#include <cstdint>

/// Lets the program at the other end of this local socket raise its window: it was asked to by this one, which the user
/// has just started. Where the system asks for no such leave, nothing is done.
void letRaiseItsWindow(std::intptr_t socket);
