#include "kernels/cuda/blas.h"
#include "kernels/cuda/driver.h"

#include <windows.h>

#include <cstdlib>
#include <string>

namespace kernels::cuda {

static void* symbol(void* library, const char* name)
{
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

// Opens the driver from the system's folder only, where its installer puts it.
OpenedLibrary open_driver_library()
{
    void* library = LoadLibraryExA("nvcuda.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
    return {library, symbol, library ? "" : "no NVIDIA driver is installed (nvcuda.dll)"};
}

// Opens cuBLAS from the program's folder, the system's, or the toolkit's, which its installer names in CUDA_PATH. Never
// from the current folder.
OpenedLibrary open_blas_library()
{
    const char* toolkit = std::getenv("CUDA_PATH");
    for (const char* name : {"cublas64_13.dll", "cublas64_12.dll", "cublas64_11.dll"}) {
        HMODULE library = LoadLibraryExA(name, nullptr, LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
        for (const char* folder : {"\\bin\\x64\\", "\\bin\\"})
            if (!library && toolkit)
                library = LoadLibraryExA((std::string(toolkit) + folder + name).c_str(), nullptr,
                                         LOAD_LIBRARY_SEARCH_DLL_LOAD_DIR | LOAD_LIBRARY_SEARCH_DEFAULT_DIRS);
        if (library)
            return {library, symbol, {}};
    }
    return {nullptr, nullptr, "cuBLAS is not installed (cublas64_13.dll)"};
}

}  // namespace kernels::cuda
