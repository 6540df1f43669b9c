#include "engine/exec/huge_array.h"

namespace engine {

// Large pages are for those whom an administrator lets lock memory.
void HugeArray::wish_large_pages(std::byte*, std::size_t) {}

}  // namespace engine
