// Gives no kernel images: for builds without nvcc.
#include "kernels/cuda/driver.h"

namespace kernels::cuda {

KernelImages kernel_images()
{
    return {};
}

}  // namespace kernels::cuda
