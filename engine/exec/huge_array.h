// Memory for what is streamed through in every step: in large pages where the system gives them, so that reading it
// seldom waits for the page table. It goes back to the system at once.
#pragma once

#include <cstddef>
#include <memory>

namespace engine {

class HugeArray
{
public:
    HugeArray() = default;
    /// At least one byte; all zero. Throws std::bad_alloc.
    explicit HugeArray(std::size_t bytes)
        : memory_(take(bytes), {bytes})
    {
    }
    std::byte* data() const { return memory_.get(); }

private:
    static std::byte* take(std::size_t bytes);
    static void give_back(std::byte* memory, std::size_t bytes);

    struct GiveBack {
        std::size_t bytes;
        void operator()(std::byte* memory) const { give_back(memory, bytes); }
    };
    std::unique_ptr<std::byte[], GiveBack> memory_;
};

}  // namespace engine
