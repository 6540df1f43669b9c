// Declares where kernels also write their result as rows of 8-bit activations, for them and their launchers.
#pragma once

#include <cstddef>

namespace kernels::cuda {

/// (rows,) rows of 8-bit activations, each `stride` bytes after the one before, and at the same stride what rounding
/// lost, rounded in its turn. Null: it is not wanted.
struct RoundedRows {
    std::byte* at;
    std::byte* residual;
    std::size_t stride;
};

}  // namespace kernels::cuda
