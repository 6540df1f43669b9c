#include "engine/device.h"

#include "engine/metrics/host_probe.h"
#include "kernels/cpu.h"

namespace engine {

std::vector<DeviceInfo> devices()
{
    DeviceInfo cpu;
    cpu.id = "cpu";
    cpu.cores = physical_cores();
    cpu.description = std::to_string(cpu.cores) + (cpu.cores == 1 ? " core" : " cores");
    cpu.kernels = kernels::cpu_kernels().name;
    for (const kernels::CpuKernels& table : kernels::all_cpu_kernels())
        cpu.all_kernels.emplace_back(table.name);
    const MachineMemory memory = machine_memory();
    cpu.memory_total_bytes = memory.total_bytes;
    cpu.memory_available_bytes = memory.available_bytes;
    return {cpu};
}

MachineMemory machine_memory()
{
    const HostMemory memory = host_memory();
    return {memory.total_bytes, memory.available_bytes};
}

std::string forced_kernels_warning()
{
    const auto name = kernels::unknown_forced_table();
    if (name.empty())
        return {};
    return "SPILLWAY_CPU names '" + std::string(name) + "', which is no kernel table of this machine; 'scalar' is used";
}

}  // namespace engine
