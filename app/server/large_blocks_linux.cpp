#include "app/server/large_blocks.h"

#include <malloc.h>

namespace server {

void give_large_blocks_back()
{
    // By itself glibc raises its threshold to the size of the largest block that was freed, up to 32 MiB.
    mallopt(M_MMAP_THRESHOLD, 256 << 10);
}

}  // namespace server
