// give_large_blocks_back() has the allocator return memory of large blocks to the system as soon as it is freed.
#pragma once

namespace server {

/// Changes this for the whole program from now on. A server runs for days and needs many large blocks only once, and
/// each of the allocator's heaps would keep the memory of its largest request.
void give_large_blocks_back();

}  // namespace server
