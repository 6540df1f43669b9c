#include "kernels/cpu/scratch.h"

namespace kernels {

Scratch& scratch_of_this_thread()
{
    thread_local Scratch scratch;
    return scratch;
}

}  // namespace kernels
