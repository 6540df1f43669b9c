#include "kernels/cuda/blas.h"
#include "kernels/cuda/driver.h"

#include <dlfcn.h>

namespace kernels::cuda {

OpenedLibrary open_driver_library()
{
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    return {library, dlsym, library ? "" : "no NVIDIA driver is installed (libcuda.so.1)"};
}

OpenedLibrary open_blas_library()
{
    for (const char* name : {"libcublas.so.13", "libcublas.so.12", "libcublas.so.11"})
        if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL))
            return {library, dlsym, {}};
    return {nullptr, nullptr, "cuBLAS is not installed (libcublas.so)"};
}

}  // namespace kernels::cuda
