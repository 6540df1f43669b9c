// The kernel for a tensor type among those that SPILLWAY_KERNEL_OF_EACH_TYPE lists.
#pragma once

#include "kernels/cuda/kernel_names.h"
#include "kernels/types.h"

namespace kernels::cuda {

/// `first`: the kernel for the first type.
inline Kernel of_type(Kernel first, TensorType type)
{
    int index = 0;
    for (const TypeTraits& traits : all_tensor_types()) {
        if (traits.type == type)
            break;
        ++index;
    }
    return Kernel(int(first) + index);
}

}  // namespace kernels::cuda
