// What moves between the host and a device, as lines of the log.
#pragma once

#include "engine/telemetry.h"

/// One line for blocks and layers that moved, and for a device that was lost; nothing for other events.
void logPlacement(const engine::Event& event);
