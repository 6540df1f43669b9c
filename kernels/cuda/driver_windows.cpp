#include "kernels/cuda/driver.h"

#include <windows.h>

namespace kernels::cuda {

static void* symbol(void* library, const char* name)
{
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

// From the system's folder only, where the driver's installer puts it.
OpenedLibrary open_driver_library()
{
    void* library = LoadLibraryExA("nvcuda.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
    return {library, symbol, library ? "" : "no NVIDIA driver is installed (nvcuda.dll)"};
}

}  // namespace kernels::cuda
