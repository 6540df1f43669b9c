// Keeps working memory of the calling thread from call to call, so that products allocate nothing per token.
#pragma once

#include <cstddef>

namespace kernels {

/// At least `bytes` bytes at a multiple of 64, valid until this thread's next call. Its contents are not kept.
std::byte* thread_scratch(std::size_t bytes);

}  // namespace kernels
