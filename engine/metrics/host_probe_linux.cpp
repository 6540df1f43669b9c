// Finds out what a Linux machine has and what this process uses of it: /proc, /sys and the cgroups.
#include "engine/metrics/host_probe_linux.h"

#include "engine/machine.h"
#include "engine/metrics/proc_text.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <sched.h>
#include <set>
#include <string_view>
#include <system_error>

namespace engine {
namespace {

namespace fs = std::filesystem;

/// Reads a small file of /proc or /sys; empty where there is none.
std::string text_of(const fs::path& path)
{
    std::ifstream file(path);
    std::string text;
    for (char part[4096]; file.read(part, sizeof part) || file.gcount() > 0;)
        text.append(part, std::size_t(file.gcount()));
    return text;
}

/// The cgroup's own folder and its parents up to the root of the tree: each may set a limit. In a container the path
/// may be the host's and not there; then the root is what counts.
std::vector<fs::path> folders_up(const fs::path& tree, const std::string& path)
{
    std::vector<fs::path> folders;
    fs::path relative = fs::path(path).relative_path();
    for (constexpr int kMaxDepth = 64; !relative.empty() && folders.size() < kMaxDepth;
         relative = relative.parent_path())
        folders.push_back(tree / relative);
    folders.push_back(tree);
    return folders;
}

template <class T>
void lower(std::optional<T>& least, std::optional<T> value)
{
    if (value && (!least || *value < *least))
        least = value;
}

/// Returns how many CPUs the quotas of all enclosing cgroups allow.
std::optional<double> cpu_quota(const fs::path& root)
{
    const CgroupPaths paths = cgroup_paths(text_of(root / "proc/self/cgroup"));
    std::optional<double> quota;
    if (paths.unified)
        for (const fs::path& folder : folders_up(root / "sys/fs/cgroup", *paths.unified))
            lower(quota, cpu_max_v2(text_of(folder / "cpu.max")));
    if (paths.cpu)
        for (const fs::path& folder : folders_up(root / "sys/fs/cgroup/cpu", *paths.cpu))
            lower(quota, cpu_quota_v1(text_of(folder / "cpu.cfs_quota_us"), text_of(folder / "cpu.cfs_period_us")));
    return quota;
}

/// Returns how much of a cgroup's memory is file cache, also what was used twice or is mapped; files in RAM are not.
/// `prefix`: of the lines that count the groups inside, too.
std::int64_t file_cache_bytes(const std::string& stat, const std::string& prefix)
{
    return plain_line(stat, prefix + "inactive_file").value_or(0) +
           plain_line(stat, prefix + "active_file").value_or(0);
}

/// Narrows what is total and available by one cgroup. Its file cache can be dropped, so it counts as available.
void narrow(HostMemory& memory, std::optional<std::int64_t> limit_bytes, std::optional<std::int64_t> used_bytes,
            std::int64_t file_cache_bytes)
{
    if (!limit_bytes)
        return;
    lower(memory.total_bytes, limit_bytes);
    if (used_bytes) {
        const std::int64_t left = *limit_bytes - *used_bytes + file_cache_bytes;
        lower(memory.available_bytes, std::optional(std::clamp<std::int64_t>(left, 0, *limit_bytes)));
    }
}

}  // namespace

std::vector<int> core_cpus(const fs::path& root, const std::vector<int>& allowed_cpus)
{
    const fs::path devices = root / "sys/devices";
    std::vector<int> cpus = allowed_cpus;
    std::sort(cpus.begin(), cpus.end());

    // Intel's hybrid processors list their fast cores here.
    if (const auto fast = cpu_list(text_of(devices / "cpu_core/cpus")); fast && !fast->empty()) {
        std::vector<int> fast_allowed;
        std::set_intersection(cpus.begin(), cpus.end(), fast->begin(), fast->end(), std::back_inserter(fast_allowed));
        if (!fast_allowed.empty())
            cpus = fast_allowed;
    }

    std::set<int> cores;  // each by its lowest CPU number
    std::vector<int> one_of_each;
    for (const int cpu : cpus) {
        const fs::path topology = devices / "system/cpu" / ("cpu" + std::to_string(cpu)) / "topology";
        const auto siblings = cpu_list(text_of(topology / "thread_siblings_list"));
        if (cores.insert(siblings && !siblings->empty() ? siblings->front() : cpu).second)
            one_of_each.push_back(cpu);
    }
    return one_of_each;
}

int physical_cores(const fs::path& root, const std::vector<int>& allowed_cpus)
{
    int count = std::max(1, static_cast<int>(core_cpus(root, allowed_cpus).size()));
    if (const auto quota = cpu_quota(root))  // rounded down: threads that spin on borrowed time are all stopped at once
        count = *quota < count ? std::max(1, static_cast<int>(*quota)) : count;
    return count;
}

HostMemory host_memory(const fs::path& root)
{
    const std::string meminfo = text_of(root / "proc/meminfo");
    HostMemory memory = {kib_line(meminfo, "MemTotal"), kib_line(meminfo, "MemAvailable")};

    const CgroupPaths paths = cgroup_paths(text_of(root / "proc/self/cgroup"));
    if (paths.unified)
        for (const fs::path& folder : folders_up(root / "sys/fs/cgroup", *paths.unified))
            narrow(memory, limit(text_of(folder / "memory.max")), limit(text_of(folder / "memory.current")),
                   file_cache_bytes(text_of(folder / "memory.stat"), ""));
    if (paths.memory)
        for (const fs::path& folder : folders_up(root / "sys/fs/cgroup/memory", *paths.memory))
            narrow(memory, limit(text_of(folder / "memory.limit_in_bytes")),
                   limit(text_of(folder / "memory.usage_in_bytes")),
                   file_cache_bytes(text_of(folder / "memory.stat"), "total_"));
    return memory;
}

ProcessMemory process_memory(const fs::path& root)
{
    const std::string status = text_of(root / "proc/self/status");
    return {kib_line(status, "VmRSS"), kib_line(status, "VmHWM"), kib_line(status, "VmSwap")};
}

bool has_nvidia_card(const fs::path& root)
{
    constexpr std::string_view kNvidia = "0x10de", kGraphics = "0x03";  // of the class the first byte
    std::error_code unread;
    for (fs::directory_iterator card(root / "sys/bus/pci/devices", unread), end; card != end; card.increment(unread))
        if (text_of(card->path() / "vendor").starts_with(kNvidia) &&
            text_of(card->path() / "class").starts_with(kGraphics))
            return true;
    return false;
}

static constexpr int kMaxCpus = 4096;

static std::vector<int> allowed_cpus()
{
    std::vector<int> allowed;
    if (cpu_set_t* set = CPU_ALLOC(kMaxCpus)) {
        const std::size_t bytes = CPU_ALLOC_SIZE(kMaxCpus);
        CPU_ZERO_S(bytes, set);
        if (::sched_getaffinity(0, bytes, set) == 0)
            for (int cpu = 0; cpu < kMaxCpus; ++cpu)
                if (CPU_ISSET_S(cpu, bytes, set))
                    allowed.push_back(cpu);
        CPU_FREE(set);
    }
    return allowed;
}

int physical_cores()
{
    return physical_cores("/", allowed_cpus());
}

std::vector<int> core_cpus()
{
    return core_cpus("/", allowed_cpus());
}

bool pin_this_thread(int cpu)
{
    cpu_set_t* set = CPU_ALLOC(kMaxCpus);
    if (!set)
        return false;
    const std::size_t bytes = CPU_ALLOC_SIZE(kMaxCpus);
    CPU_ZERO_S(bytes, set);
    CPU_SET_S(cpu, bytes, set);
    const bool pinned = ::sched_setaffinity(0, bytes, set) == 0;
    CPU_FREE(set);
    return pinned;
}

HostMemory host_memory()
{
    return host_memory("/");
}

ProcessMemory process_memory()
{
    return process_memory("/");
}

bool has_nvidia_card()
{
    return has_nvidia_card("/");
}

}  // namespace engine
