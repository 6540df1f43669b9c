#include "engine/device/kernels_in_use.h"

#include <algorithm>
#include <string_view>

namespace engine {

std::string describe(const kernels::CpuKernels& table, std::span<const kernels::CpuKernels> tables)
{
    std::string tiles;
    const auto own = std::ranges::find_if(
        tables, [&](const kernels::CpuKernels& one) { return std::string_view(one.name) == table.name; });
    for (const kernels::TypeTraits& type : kernels::all_tensor_types()) {
        const auto slot = std::size_t(type.type);
        if (own != tables.end() && table.matmul[slot] != own->matmul[slot])
            tiles += (tiles.empty() ? "" : ", ") + std::string(type.name);
    }
    return tiles.empty() ? table.name : std::string(table.name) + "; prompts by " + tables.back().name + ": " + tiles;
}

std::string kernels_in_use()
{
    return describe(kernels::cpu_kernels(), kernels::all_cpu_kernels());
}

}  // namespace engine
