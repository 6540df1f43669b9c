// Measures how fast a GPU moves bytes: within its memory, and between it and the host.
#pragma once

#include "engine/plan/device_meter.h"

namespace engine {

// Each: DeviceFull, DeviceLost.

/// Measures copies from one half of the meter's memory to the other, counting what is read and what is written.
Result<double> measure_copy_bytes_per_s(const DeviceMeter& meter);
/// Measures copies from or to page-locked memory of the host's, one direction by itself.
Result<double> measure_link_bytes_per_s(const DeviceMeter& meter, Device::Direction direction);

}  // namespace engine
