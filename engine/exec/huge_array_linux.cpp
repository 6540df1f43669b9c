#include "engine/exec/huge_array.h"

#include <cstdint>
#include <new>

#include <sys/mman.h>

namespace engine {

namespace {

constexpr std::size_t kLargePage = std::size_t(2) << 20, kPage = 4096;

std::size_t rounded_up(std::size_t bytes, std::size_t to)
{
    return (bytes + to - 1) / to * to;
}

}  // namespace

// A large page begins at a multiple of its size: so much more is taken, and what lies around it given back.
std::byte* HugeArray::take(std::size_t bytes)
{
    const std::size_t wanted = rounded_up(bytes, kPage), all = wanted + kLargePage;
    void* const taken = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (taken == MAP_FAILED)
        throw std::bad_alloc();
    auto* const begin = static_cast<std::byte*>(taken);
    const auto address = reinterpret_cast<std::uintptr_t>(taken);
    const std::size_t before = rounded_up(address, kLargePage) - address;
    if (before > 0)
        (void)munmap(begin, before);
    if (before < kLargePage)
        (void)munmap(begin + before + wanted, kLargePage - before);
    (void)madvise(begin + before, wanted, MADV_HUGEPAGE);  // small ones do, too
    return begin + before;
}

void HugeArray::give_back(std::byte* memory, std::size_t bytes)
{
    (void)munmap(memory, rounded_up(bytes, kPage));
}

}  // namespace engine
