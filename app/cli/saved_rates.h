// Reads and writes the rates of this machine in the profile.
#pragma once

#include "engine/machine_rates.h"

#include <optional>

namespace cli {

/// Measures with progress on stderr, and keeps the result; `gpu`: that one as well. What was kept of other GPUs stays.
engine::Result<engine::MachineRates> calibrate(int threads, std::optional<int> gpu);

/// Returns the rates that were kept. A file that is not what calibrate() writes: one sentence on stderr, and it is
/// measured again. Empty: nothing was kept for this machine and so many threads.
std::optional<engine::MachineRates> saved_rates(int threads);

}  // namespace cli
