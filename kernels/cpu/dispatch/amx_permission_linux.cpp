#include "kernels/cpu/amx/amx.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace kernels::amx {

// Source: Documentation/arch/x86/xstate.rst of the Linux kernel.
bool permitted()
{
    constexpr int kRequestPermission = 0x1023, kTileData = 18;
    return syscall(SYS_arch_prctl, kRequestPermission, kTileData) == 0;
}

}  // namespace kernels::amx
