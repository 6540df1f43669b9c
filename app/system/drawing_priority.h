// drawFirst() lets the thread that draws the window come before threads that compute.
#pragma once

/// Asks for a priority for the calling thread, not for those that it starts afterwards. Without it, a window that has
/// little to draw waits for its turn where many threads keep the cores busy: a frame in a hundred for 20 ms. The system
/// may refuse, or know no such thing; then nothing changes.
void drawFirst();
