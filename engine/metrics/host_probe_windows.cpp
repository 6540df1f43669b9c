// What a Windows machine has and what this process uses of it.
#include "engine/metrics/host_probe.h"

#ifndef _WIN32_WINNT
#define _WIN32_WINNT 0x0A00
#endif
#ifndef NOMINMAX
#define NOMINMAX
#endif
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

#include <psapi.h>

#include <algorithm>
#include <cstddef>
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

int physical_cores()
{
    DWORD_PTR allowed = 0;
    DWORD_PTR whole_machine = 0;
    ::GetProcessAffinityMask(::GetCurrentProcess(), &allowed, &whole_machine);

    int fastest_class = -1;
    int count = 0;
    const std::vector<std::byte> records = core_records();
    for (std::size_t at = 0; at < records.size();) {
        const auto* record = reinterpret_cast<const SYSTEM_LOGICAL_PROCESSOR_INFORMATION_EX*>(records.data() + at);
        at += record->Size;
        const PROCESSOR_RELATIONSHIP& core = record->Processor;
        // The mask speaks of one group only; a process in several groups has none (0) and may use all cores.
        if (allowed != 0 && (core.GroupMask[0].Mask & allowed) == 0)
            continue;
        // EfficiencyClass, larger is faster: the byte after Flags, which mingw-w64 10 still calls reserved.
        const int efficiency_class = reinterpret_cast<const BYTE*>(&core.Flags)[1];
        if (efficiency_class > fastest_class) {
            fastest_class = efficiency_class;
            count = 0;
        }
        count += efficiency_class == fastest_class;
    }
    return count > 0 ? count : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
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

}  // namespace engine
