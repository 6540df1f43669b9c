#include "kernels/cpu/thread_scratch.h"

#include <memory>
#include <new>

namespace kernels {

namespace {

constexpr std::align_val_t kAlignment{64};

struct Free {
    void operator()(std::byte* bytes) const { ::operator delete(bytes, kAlignment); }
};

struct Scratch {
    std::unique_ptr<std::byte, Free> bytes;
    std::size_t size = 0;
};

}  // namespace

std::byte* thread_scratch(std::size_t bytes)
{
    thread_local Scratch scratch;
    if (scratch.size < bytes) {
        scratch.bytes.reset();  // first, so that both need not fit
        scratch.size = 0;
        scratch.bytes.reset(static_cast<std::byte*>(::operator new(bytes, kAlignment)));
        scratch.size = bytes;
    }
    return scratch.bytes.get();
}

}  // namespace kernels
