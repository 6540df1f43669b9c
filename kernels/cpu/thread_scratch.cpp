#include "kernels/cpu/thread_scratch.h"

#include "kernels/cpu/scratch.h"

namespace kernels {

std::byte* thread_scratch(std::size_t bytes)
{
    return scratch_of_this_thread().at_least(bytes);
}

}  // namespace kernels
