// Measures the two ways in which the CPU takes part in a GPU's step: the host waits for the device and queues what
// follows, or both wait for flags in the middle of a graph.
#pragma once

#include "engine/plan/device_meter.h"

namespace engine {

// Each: DeviceFull, DeviceLost, Unsupported.

/// Measures the way to the host and back: what a layer sends to be attended there, and its result.
Result<double> measure_hand_off_s(const DeviceMeter& meter);
/// Does the same within a graph, by flags. Unsupported: device and host do not see each other's, or not in time.
Result<double> measure_flag_hand_off_s(const DeviceMeter& meter);

}  // namespace engine
