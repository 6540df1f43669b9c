// Finds out what a Windows machine has and what this process uses of it.
#include "engine/metrics/host_probe.h"

#include "engine/machine.h"

#include <windows.h>

#include <psapi.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cwchar>
#include <thread>
#include <vector>

namespace engine {
namespace {

/// The processor groups' core records, one after the other.
std::vector<std::byte> core_records()
{
    DWORD bytes = 0;
    ::GetLogicalProcessorInformationEx(RelationProcessorCore, nullptr, &bytes);
    std::vector<std::byte> records(bytes);
    auto* first = reinterpret_cast<SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(records.data());
    if (bytes == 0 || !::GetLogicalProcessorInformationEx(RelationProcessorCore, first, &bytes))
        return {};
    return records;
}

}  // namespace

// A CPU's number is its group's times this, and its place in the group.
static constexpr int kGroupCpus = 64;

std::vector<int> core_cpus()
{
    DWORD_PTR allowed = 0;
    DWORD_PTR whole_machine = 0;
    ::GetProcessAffinityMask(::GetCurrentProcess(), &allowed, &whole_machine);
    USHORT group = 0;
    USHORT groups = 1;
    const bool one_group = ::GetProcessGroupAffinity(::GetCurrentProcess(), &groups, &group) != 0;

    int fastest_class = -1;
    std::vector<int> cpus;
    const std::vector<std::byte> records = core_records();
    for (std::size_t at = 0; at < records.size();) {
        const auto* record = reinterpret_cast<const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(records.data() + at);
        at += record->Size;
        const PROCESSOR_RELATIONSHIP& core = record->Processor;
        // The mask speaks of one group only; a process in several groups has none (0) and may use all cores.
        const KAFFINITY usable = allowed != 0 ? core.GroupMask[0].Mask & allowed : core.GroupMask[0].Mask;
        if (usable == 0 || (one_group && core.GroupMask[0].Group != group))
            continue;
        // EfficiencyClass, larger is faster: the byte after Flags, which mingw-w64 10 still calls reserved.
        const int efficiency_class = reinterpret_cast<const BYTE*>(&core.Flags)[1];
        if (efficiency_class > fastest_class) {
            fastest_class = efficiency_class;
            cpus.clear();
        }
        if (efficiency_class == fastest_class)
            cpus.push_back(core.GroupMask[0].Group * kGroupCpus + std::countr_zero(usable));
    }
    return cpus;
}

int physical_cores()
{
    const std::size_t count = core_cpus().size();
    return count > 0 ? static_cast<int>(count) : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

bool pin_this_thread(int cpu)
{
    GROUP_AFFINITY place = {};
    place.Group = static_cast<WORD>(cpu / kGroupCpus);
    place.Mask = KAFFINITY(1) << cpu % kGroupCpus;
    return ::SetThreadGroupAffinity(::GetCurrentThread(), &place, nullptr) != 0;
}

HostMemory host_memory()
{
    MEMORYSTATUSEX status = {};
    status.dwLength = sizeof status;
    if (!::GlobalMemoryStatusEx(&status))
        return {};
    return {static_cast<std::int64_t>(status.ullTotalPhys), static_cast<std::int64_t>(status.ullAvailPhys)};
}

ProcessMemory process_memory()
{
    PROCESS_MEMORY_COUNTERS counters = {};
    if (!::K32GetProcessMemoryInfo(::GetCurrentProcess(), &counters, sizeof counters))
        return {};
    return {static_cast<std::int64_t>(counters.WorkingSetSize), static_cast<std::int64_t>(counters.PeakWorkingSetSize)};
}

// Also of a card without its driver the system says who made it.
bool has_nvidia_card()
{
    DISPLAY_DEVICEW card = {};
    card.cb = sizeof card;
    for (DWORD i = 0; ::EnumDisplayDevicesW(nullptr, i, &card, 0); ++i)
        if (std::wcsstr(card.DeviceID, L"VEN_10DE"))
            return true;
    return false;
}

}  // namespace engine
