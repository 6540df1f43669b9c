// give_large_blocks_back() has the allocator return memory of large blocks to the system as soon as it is freed.
#pragma once

namespace server {

/// Does it from now on, and for all of the program: one that runs for days hears of many large things once, and each of
/// the allocator's heaps would keep what its largest request took.
void give_large_blocks_back();

}  // namespace server
