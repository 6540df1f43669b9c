// HugeArray allocates memory of the host for what every step streams through. It is made of large pages where the
// system gives them, so that reading it seldom waits for the page table. Where memory is divided into nodes, the pages
// lie on each node in turn, so that all nodes are read from at once. Freed memory goes back to the system at once. What
// is smaller than a large page comes from the heap.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>

namespace engine {

class HugeArray
{
public:
    HugeArray() = default;
    /// `bytes`: at least one; all are zero. Throws std::bad_alloc.
    explicit HugeArray(std::size_t bytes)
        : memory_(take(bytes), {bytes})
    {
        held_ += std::int64_t(bytes);
    }
    std::byte* data() const { return memory_.get(); }
    explicit operator bool() const { return memory_ != nullptr; }

    /// Returns how many nodes of memory are used in turns: those whose cores this process runs on, unless the user has
    /// chosen nodes for it. 1 where the system does not tell.
    static int nodes();

    /// Returns the bytes that all arrays of this process hold.
    static std::int64_t held_bytes() { return held_; }

private:
    static constexpr std::size_t kLargePage = std::size_t(2) << 20;
    static constexpr std::align_val_t kAlignment{64};

    static std::byte* take(std::size_t bytes)
    {
        if (bytes >= kLargePage)
            return take_pages(bytes);
        void* const memory = ::operator new[](bytes, kAlignment, std::nothrow);
        if (!memory)
            throw std::bad_alloc();
        return static_cast<std::byte*>(std::memset(memory, 0, bytes));
    }
    static std::byte* take_pages(std::size_t bytes);
    static void give_back_pages(std::byte* memory, std::size_t bytes);

    struct GiveBack {
        std::size_t bytes;
        void operator()(std::byte* memory) const
        {
            if (bytes >= kLargePage)
                give_back_pages(memory, bytes);
            else
                ::operator delete[](memory, kAlignment);
            held_ -= std::int64_t(bytes);
        }
    };
    static inline std::atomic<std::int64_t> held_ = 0;
    std::unique_ptr<std::byte[], GiveBack> memory_;
};

}  // namespace engine
