// Declares how the host's part of attention lies in memory, for those who write it and those who read it.
#pragma once

namespace kernels::cuda {

/// One row's partials of all heads, in floats: largest scores (heads,), sums of exponentials (heads,), and weighted
/// values before the division (heads, v_dim). Values are read four at a time: they begin at a multiple of 16 bytes
/// also where the number of heads is odd, and so does the next row; v_dim is a multiple of 4.
struct HostPartialsLayout {
    int heads = 0, v_dim = 0;
    constexpr int sum() const { return heads; }
    constexpr int out() const { return (2 * heads + 3) / 4 * 4; }
    constexpr int floats() const { return out() + heads * v_dim; }
};

}  // namespace kernels::cuda
