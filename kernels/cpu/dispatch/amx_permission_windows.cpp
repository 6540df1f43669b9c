#include "kernels/cpu/amx/amx.h"

namespace kernels::amx {

// Windows has a way to ask, which we could try nowhere: AVX-512 is used there.
bool permitted()
{
    return false;
}

}  // namespace kernels::amx
