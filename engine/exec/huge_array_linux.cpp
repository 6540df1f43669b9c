#include "engine/exec/huge_array.h"

#include <sys/mman.h>

namespace engine {

void HugeArray::wish_large_pages(std::byte* memory, std::size_t bytes)
{
    (void)madvise(memory, bytes, MADV_HUGEPAGE);  // small ones do, too
}

}  // namespace engine
