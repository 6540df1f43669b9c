// graphicsDriverDraws() tells whether this computer's graphics driver can draw a window.
#pragma once

/// False where there is no driver, or a broken one: there Qt would end the program. Needs the application.
bool graphicsDriverDraws();
