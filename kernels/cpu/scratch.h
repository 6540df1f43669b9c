// Holds the memory behind thread_scratch().
#pragma once

#include <cstddef>
#include <new>

namespace kernels {

/// Working memory of one thread. It grows when more is asked for.
class Scratch
{
public:
    Scratch() = default;
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { ::operator delete(bytes_, kAlignment); }

    std::byte* at_least(std::size_t bytes)
    {
        if (size_ < bytes) {
            ::operator delete(bytes_, kAlignment);  // first, so that the old and the new need not both fit
            bytes_ = nullptr;
            size_ = 0;
            bytes_ = static_cast<std::byte*>(::operator new(bytes, kAlignment));
            size_ = bytes;
        }
        return bytes_;
    }

private:
    static constexpr std::align_val_t kAlignment{64};

    std::byte* bytes_ = nullptr;
    std::size_t size_ = 0;
};

/// Returns the calling thread's memory, made at its first call and freed when it ends. Throws std::bad_alloc.
Scratch& scratch_of_this_thread();

}  // namespace kernels
