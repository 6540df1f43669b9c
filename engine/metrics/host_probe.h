// Reads what this machine has and what this process uses of it. What the machine does not tell is an empty
// optional.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace engine {

struct HostMemory {
    std::optional<std::int64_t> total_bytes;      // RAM this process may use: a container's limit counts
    std::optional<std::int64_t> available_bytes;  // of it, what can be had without swapping
};

struct ProcessMemory {
    std::optional<std::int64_t> resident_bytes;  // mapped file pages included
    std::optional<std::int64_t> peak_resident_bytes;
    std::optional<std::int64_t> swapped_bytes = {};  // to the disk; Windows does not tell it of one process
};

/// Counts the physical cores worth a compute thread each: those this process may run on, one for each pair of
/// hyper-threads, the fast ones only where there are two kinds, and no more than a container's CPU quota allows. At
/// least 1.
int physical_cores();

/// Returns one CPU of each such core, by the numbers that pin_this_thread() takes, whatever the quota.
std::vector<int> core_cpus();
/// Makes the calling thread stay on this CPU. False: the system does not allow it.
bool pin_this_thread(int cpu);

HostMemory host_memory();
ProcessMemory process_memory();

}  // namespace engine
