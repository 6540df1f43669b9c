// Every kernel of the program by its name: the .cu file that holds it, and the extern "C" function in there.
#pragma once

// clang-format off
#define SPILLWAY_CUDA_KERNELS(KERNEL) \
    KERNEL(rms_norm, rms_norm)        \
    KERNEL(rms_norm, norm_heads)
// clang-format on

namespace kernels::cuda {

#define SPILLWAY_ENUMERATOR(file, name) name,
enum class Kernel { SPILLWAY_CUDA_KERNELS(SPILLWAY_ENUMERATOR) Count };
#undef SPILLWAY_ENUMERATOR

constexpr int kKernelCount = int(Kernel::Count);

}  // namespace kernels::cuda
