#include "kernels/cpu/thread_scratch.h"

#include <new>

namespace kernels {

namespace {

constexpr std::align_val_t kAlignment{64};

/// One thread's working memory; freed when the thread ends.
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
            ::operator delete(bytes_, kAlignment);  // first, so that both need not fit
            bytes_ = nullptr;
            size_ = 0;
            bytes_ = static_cast<std::byte*>(::operator new(bytes, kAlignment));
            size_ = bytes;
        }
        return bytes_;
    }

private:
    std::byte* bytes_ = nullptr;
    std::size_t size_ = 0;
};

thread_local Scratch scratch;

}  // namespace

std::byte* thread_scratch(std::size_t bytes)
{
    return scratch.at_least(bytes);
}

}  // namespace kernels
