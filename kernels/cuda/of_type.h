// Picks the kernel for a tensor type among those that the macros of kernel_names.h list for each.
#pragma once

#include "kernels/cpu.h"
#include "kernels/cuda/kernel_names.h"

namespace kernels::cuda {

inline bool is_packed(TensorType type)
{
    return activation_of(type) == Activation::Q8;
}

/// Returns the kernel for a packed type. `first`: that for the first packed type
inline Kernel of_packed_type(Kernel first, TensorType type)
{
    int index = 0;
    for (const TypeTraits& traits : all_tensor_types())
        index += is_packed(traits.type) && traits.type < type;
    return Kernel(int(first) + index);
}

/// Returns the kernel for any type. `first`: that for floats
inline Kernel of_type(Kernel first, TensorType type)
{
    if (is_packed(type))
        return of_packed_type(Kernel(int(first) + 3), type);
    return Kernel(int(first) + (type == TensorType::F32 ? 0 : type == TensorType::F16 ? 1 : 2));
}

}  // namespace kernels::cuda
