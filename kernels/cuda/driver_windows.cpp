#include "kernels/cuda/driver.h"

#include <windows.h>

namespace kernels::cuda {

static void* symbol(void* library, const char* name)
{
    return reinterpret_cast<void*>(GetProcAddress(static_cast<HMODULE>(library), name));
}

// From the system's folder only, where the driver's installer puts it. Never closed: the driver keeps threads of its
// own.
static DriverLibrary open_library()
{
    void* library = LoadLibraryExA("nvcuda.dll", nullptr, LOAD_LIBRARY_SEARCH_SYSTEM32);
    if (!library)
        return {nullptr, "no NVIDIA driver is installed (nvcuda.dll)"};
    static DriverTable table;
    if (const char* missing = fill_table(table, symbol, library))
        return {nullptr, std::string("the NVIDIA driver is too old: it lacks ") + missing};
    return {&table, {}};
}

const DriverLibrary& driver_library()
{
    static const DriverLibrary library = open_library();
    return library;
}

}  // namespace kernels::cuda
