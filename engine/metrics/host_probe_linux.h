// Declares the Linux probe with its two ties to the machine as arguments: where /proc and /sys are, and which CPUs the
// scheduler allows.
#pragma once

#include "engine/metrics/host_probe.h"

#include <filesystem>
#include <vector>

namespace engine {

int physical_cores(const std::filesystem::path& root, const std::vector<int>& allowed_cpus);
std::vector<int> core_cpus(const std::filesystem::path& root, const std::vector<int>& allowed_cpus);
HostMemory host_memory(const std::filesystem::path& root);
ProcessMemory process_memory(const std::filesystem::path& root);
bool has_nvidia_card(const std::filesystem::path& root);

}  // namespace engine
