// Says where the parts of a row of 8-bit activations lie: q, scale, sum16, sum32, shift16, shift32, one after the
// other.
#pragma once

#include <cstddef>

namespace kernels {

/// Byte offsets within a row of n activations; n is a multiple of 32.
struct Q8Layout {
    std::size_t scale, sum16, sum32, shift16, shift32, end;

    explicit constexpr Q8Layout(int n)
        : scale(std::size_t(n))
        , sum16(scale + std::size_t(n / 32) * 4)
        , sum32(sum16 + std::size_t(n / 16) * 4)
        , shift16(sum32 + std::size_t(n / 32) * 4)
        , shift32(shift16 + std::size_t(n / 16) * 4)
        , end(shift32 + std::size_t(n / 32) * 4)
    {
    }
};

}  // namespace kernels
