// Turns what the engine says of memory into what kernels are given; for launchers.
#pragma once

#include "kernels/cuda/ops.h"
#include "kernels/cuda/rounded_rows.h"

#include <cstdint>

namespace kernels::cuda {

template <class T>
T* pointer(DevicePtr at)
{
    return reinterpret_cast<T*>(static_cast<std::uintptr_t>(at));
}

inline RoundedRows rounded_rows(const Rounded& to)
{
    return {pointer<std::byte>(to.rows.at), pointer<std::byte>(to.residual), to.rows.stride};
}

}  // namespace kernels::cuda
