// Measures how fast a GPU moves bytes: within its memory, and between it and the host.
#pragma once

#include "engine/machine_rates.h"
#include "engine/plan/device_meter.h"
#include "engine/plan/measure_rates.h"

namespace engine {

// Each: DeviceFull, DeviceLost.

/// Measures copies from one half of the meter's memory to the other, counting what is read and what is written.
Result<double> measure_copy_bytes_per_s(const DeviceMeter& meter);
/// Measures copies from or to page-locked memory of the host's, one direction by itself.
Result<double> measure_link_bytes_per_s(const DeviceMeter& meter, Device::Direction direction);
/// Measures copies from memory that is not page-locked, as files are mapped.
Result<double> measure_unlocked_bytes_per_s(const DeviceMeter& meter);
/// Measures KV blocks as a step streams them: from pages of the host's through a ring, in runs that what is computed
/// waits for. Slower than one long copy, since there is something to be done for each block and each run.
Result<double> measure_stream_bytes_per_s(const DeviceMeter& meter, const KvForm& form, int kv_heads);

}  // namespace engine
