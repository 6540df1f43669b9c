#include "kernels/cuda/driver.h"

#include <dlfcn.h>

namespace kernels::cuda {

OpenedLibrary open_driver_library()
{
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return {library, dlsym, library ? "" : "no NVIDIA driver is installed (libcuda.so.1)"};
}

}  // namespace kernels::cuda
