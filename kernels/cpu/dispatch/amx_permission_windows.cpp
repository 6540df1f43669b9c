#include "kernels/cpu/amx/amx.h"

namespace kernels::amx {

// Windows has a call for this too, but there was no machine to test it on: AVX-512 is used there instead.
bool permitted()
{
    return false;
}

}  // namespace kernels::amx
