// Converts addresses in a GPU's memory between the engine's type and the driver's.
#pragma once

#include "engine/device/device.h"
#include "engine/exec/rows.h"
#include "kernels/cuda/ops.h"

#include <cstdint>

namespace engine {

inline kernels::cuda::DevicePtr cuda_address(const void* memory)
{
    return static_cast<kernels::cuda::DevicePtr>(reinterpret_cast<std::uintptr_t>(memory));
}

/// Returns the rows from column `col` on.
inline kernels::cuda::Rows cuda_rows(const Rows& rows, int col = 0)
{
    return {cuda_address(rows.row(0) + col), rows.cols()};
}

}  // namespace engine
