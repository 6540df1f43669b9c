// Declares what a launch knows of the memory that the next launch reads first.
#pragma once

#include <cstddef>

namespace kernels::cuda {

/// Says what a launch's thread blocks ask for as they end, so that the memory goes on working until the next launch has
/// begun: each block from `first_block` on asks for `bytes_each` bytes behind those of the block before, and together
/// they ask for `bytes`. Addresses and sizes are multiples of 16.
struct NextRead {
    const std::byte* at;  // null: nothing is known
    unsigned bytes;
    unsigned bytes_each;
    unsigned first_block;
};

}  // namespace kernels::cuda
