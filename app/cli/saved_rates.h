// Reads and writes the rates of this machine in the profile.
#pragma once

#include "engine/machine_rates.h"

#include <optional>

namespace cli {

/// Measures this machine with progress on stderr, and keeps the result; with `gpu` also that GPU. The rates of other
/// GPUs that were kept before stay.
engine::Result<engine::MachineRates> calibrate(int threads, std::optional<int> gpu);

/// Returns the rates that were kept. If the file is damaged, says so on stderr and measures again, without a GPU.
/// Empty: nothing was kept for this machine and this many threads.
std::optional<engine::MachineRates> saved_rates(int threads);

}  // namespace cli
