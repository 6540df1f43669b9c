// Keeps working memory of the calling thread from call to call, so that products allocate nothing per token.
#pragma once

#include <cstddef>

namespace kernels {

/// Returns at least `bytes` bytes at an address that is a multiple of 64, valid until this thread's next call. What an
/// earlier call's user wrote may be gone. Throws std::bad_alloc.
std::byte* thread_scratch(std::size_t bytes);

}  // namespace kernels
