// drawFirst() gives the thread that draws the window precedence over threads that compute.
#pragma once

/// Asks for a higher priority for the calling thread, not for threads that it starts afterwards. Without it, drawing
/// waits for a core where many threads keep them all busy: one frame in a hundred for 20 ms. Where the system refuses
/// or has no such priority, nothing changes.
void drawFirst();
