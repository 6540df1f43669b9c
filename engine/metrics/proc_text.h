// Reads the texts in which Linux tells about machine and process. Plain functions of text, so that recorded ones can be
// tested everywhere. What is missing or makes no sense is an empty optional.
#pragma once

#include "engine/thread_times.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace engine {

/// Returns the bytes of the line `name`: "MemAvailable:   123 kB" in /proc/meminfo, "VmRSS:  12 kB" in
/// /proc/self/status.
std::optional<std::int64_t> kib_line(std::string_view text, std::string_view name);

/// Returns the number in the line `name`: "inactive_file 4096" in a cgroup's memory.stat.
std::optional<std::int64_t> plain_line(std::string_view text, std::string_view name);

/// Reads from a process's io how many bytes it had to fetch from a disk.
std::optional<std::int64_t> fetched_bytes(std::string_view io);

/// Reads from a thread's schedstat how long it ran, and how long it was ready and had no core.
std::optional<ThreadTimes> run_times(std::string_view schedstat);

/// Returns the members of a list, in order: "0-3,8,10-11". Empty where it is no such list. At most 4096 CPUs.
std::optional<std::vector<int>> cpu_list(std::string_view text);

/// Reads one number. Empty: "max", or more than any machine has, both of which mean that there is no limit.
std::optional<std::int64_t> limit(std::string_view text);

/// Returns how many CPUs a quota allows: 1.5 for "150000 100000". Empty: "max 100000", no limit.
std::optional<double> cpu_max_v2(std::string_view text);
/// Reads the same from version 1's two files; empty for a quota of -1.
std::optional<double> cpu_quota_v1(std::string_view quota_us, std::string_view period_us);

/// Says where a process is in the cgroup trees, from /proc/self/cgroup.
struct CgroupPaths {
    std::optional<std::string> unified;  // version 2
    std::optional<std::string> memory;   // version 1
    std::optional<std::string> cpu;      // version 1
};
CgroupPaths cgroup_paths(std::string_view proc_self_cgroup);

}  // namespace engine
