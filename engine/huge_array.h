// Memory for what is streamed through in every step: in large pages where the system gives them, so that reading it
// seldom waits for the page table.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#ifdef __linux__
#include <sys/mman.h>
#endif

namespace engine {

class HugeArray
{
public:
    HugeArray() = default;
    /// Not initialised. Throws std::bad_alloc.
    explicit HugeArray(std::size_t bytes)
        : memory_(static_cast<std::byte*>(::operator new[](bytes, kPage)))
    {
#ifdef __linux__
        (void)madvise(memory_.get(), bytes, MADV_HUGEPAGE);  // a wish
#endif
    }
    std::byte* data() const { return memory_.get(); }

private:
    static constexpr std::align_val_t kPage{std::size_t(2) << 20};
    struct Free {
        void operator()(std::byte* memory) const { ::operator delete[](memory, kPage); }
    };
    std::unique_ptr<std::byte[], Free> memory_;
};

}  // namespace engine
