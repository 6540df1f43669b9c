// Memory for what is streamed through in every step: in large pages where the system gives them, so that reading it
// seldom waits for the page table.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace engine {

class HugeArray
{
public:
    HugeArray() = default;
    /// Not initialised. Throws std::bad_alloc.
    explicit HugeArray(std::size_t bytes)
        : memory_(static_cast<std::byte*>(::operator new[](bytes, kPage)))
    {
        wish_large_pages(memory_.get(), bytes);
    }
    std::byte* data() const { return memory_.get(); }

private:
    static constexpr std::align_val_t kPage{std::size_t(2) << 20};
    /// Before it is first touched.
    static void wish_large_pages(std::byte* memory, std::size_t bytes);

    struct Free {
        void operator()(std::byte* memory) const { ::operator delete[](memory, kPage); }
    };
    std::unique_ptr<std::byte[], Free> memory_;
};

}  // namespace engine
