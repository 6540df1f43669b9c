#include "engine/device/huge_array.h"

#include <new>

#include <windows.h>

namespace engine {

// Takes pages of the usual size: large ones are only for users to whom an administrator gives the right to lock memory.
std::byte* HugeArray::take_pages(std::size_t bytes)
{
    void* const memory = VirtualAlloc(nullptr, bytes, MEM_RESERVE | MEM_COMMIT, PAGE_READWRITE);
    if (!memory)
        throw std::bad_alloc();
    return static_cast<std::byte*>(memory);
}

// Windows takes a page from the node whose thread writes it first, and every worker writes a part of the memory first.
int HugeArray::nodes()
{
    return 1;
}

void HugeArray::give_back_pages(std::byte* memory, std::size_t)
{
    VirtualFree(memory, 0, MEM_RELEASE);
}

}  // namespace engine
