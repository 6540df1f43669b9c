#include "kernels/cuda/driver.h"

#include <dlfcn.h>

namespace kernels::cuda {

// Never closed: the driver keeps threads of its own.
static DriverLibrary open_library()
{
    void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library)
        return {nullptr, "no NVIDIA driver is installed (libcuda.so.1)"};
    static DriverTable table;
    if (const char* missing = fill_table(table, dlsym, library))
        return {nullptr, std::string("the NVIDIA driver is too old: it lacks ") + missing};
    return {&table, {}};
}

const DriverLibrary& driver_library()
{
    static const DriverLibrary library = open_library();
    return library;
}

}  // namespace kernels::cuda
