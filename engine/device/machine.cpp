#include "engine/machine.h"

#include "engine/device/huge_array.h"
#include "engine/device/kernels_in_use.h"
#include "engine/metrics/host_probe.h"
#include "kernels/cpu.h"
#include "kernels/cuda/driver.h"

namespace engine {

DeviceInfo cpu_device()
{
    DeviceInfo cpu;
    cpu.id = "cpu";
    cpu.cores = physical_cores();
    cpu.description = std::to_string(cpu.cores) + (cpu.cores == 1 ? " core" : " cores");
    if (const int nodes = HugeArray::nodes(); nodes > 1)
        cpu.description += ", memory of " + std::to_string(nodes) + " nodes in turns";
    cpu.kernels = kernels_in_use();
    for (const kernels::CpuKernels& table : kernels::all_cpu_kernels())
        cpu.all_kernels.emplace_back(table.name);
    const MachineMemory memory = machine_memory();
    cpu.memory_total_bytes = memory.total_bytes;
    cpu.memory_available_bytes = memory.available_bytes;
    return cpu;
}

static DeviceInfo gpu_device(const kernels::cuda::ListedDevice& listed)
{
    const kernels::cuda::DeviceInfo& info = listed.info;
    DeviceInfo gpu;
    gpu.id = "cuda:" + std::to_string(info.ordinal);
    gpu.description = info.name.empty() ? "unknown"
                                        : info.name + ", compute capability " + std::to_string(info.compute_major) +
                                              "." + std::to_string(info.compute_minor);
    gpu.obstacle = listed.problem;
    gpu.kernels = "cuda";
    gpu.all_kernels = {gpu.kernels};
    gpu.cores = info.multiprocessors;
    if (info.memory_bytes > 0)
        gpu.memory_total_bytes = std::int64_t(info.memory_bytes);
    return gpu;
}

std::vector<DeviceInfo> devices()
{
    std::vector<DeviceInfo> all{cpu_device()};
    for (const kernels::cuda::ListedDevice& listed : kernels::cuda::list_devices(kernels::cuda::platform()))
        all.push_back(gpu_device(listed));
    return all;
}

std::string why_no_gpu()
{
    return kernels::cuda::why_no_device(kernels::cuda::platform());
}

MachineMemory machine_memory()
{
    const HostMemory memory = host_memory();
    return {memory.total_bytes, memory.available_bytes, HugeArray::held_bytes()};
}

std::string forced_kernels_warning()
{
    const auto name = kernels::unknown_forced_table();
    if (name.empty())
        return {};
    return "SPILLWAY_CPU names '" + std::string(name) + "', which is no kernel table of this machine; 'scalar' is used";
}

}  // namespace engine
