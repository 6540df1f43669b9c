#include "engine/device/huge_array.h"

#include <new>

#include <windows.h>

namespace engine {

// Large pages are for those whom an administrator lets lock memory: these are the usual ones.
std::byte* HugeArray::take_pages(std::size_t bytes)
{
    void* const memory = VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!memory)
        throw std::bad_alloc();
    return static_cast<std::byte*>(memory);
}

// Windows takes memory from where it is first written, which every worker does with a part of it.
int HugeArray::nodes()
{
    return 1;
}

void HugeArray::give_back_pages(std::byte* memory, std::size_t)
{
    VirtualFree(memory, 0, MEM_RELEASE);
}

}  // namespace engine
