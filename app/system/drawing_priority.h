// drawFirst() lets the thread that draws the window come before threads that compute.
#pragma once

/// For the calling thread, not for those that it starts afterwards. A window that has little to draw waits for its turn
/// all the same where many threads keep the cores busy: a frame in a hundred for 20 ms. The system may refuse, or know
/// no such thing; then nothing changes.
void drawFirst();
