// logPlacement() writes to the log what moves between the host and a device.
#pragma once

#include "engine/telemetry.h"

/// Writes one line for blocks and layers that moved, and for a device that was lost; nothing for other events.
void logPlacement(const engine::Event& event);
