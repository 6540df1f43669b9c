#include "app/server/large_blocks.h"

#include <malloc.h>

namespace server {

void give_large_blocks_back()
{
    // Unless it is set, glibc raises this threshold whenever a larger block is freed, up to 32 MiB, and keeps such
    // blocks in its heaps from then on.
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
}

}  // namespace server
