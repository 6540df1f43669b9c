// Says whether products ask for weights before they read them.
#pragma once

#include <atomic>

namespace kernels {

/// Whether products of one or two tokens with interleaved rows ask for the weights that come 4 KB later. Where the
/// processor begins to read early enough by itself, that only costs; the bits are the same. Any thread may change it.
inline std::atomic<bool> reads_ahead = true;

}  // namespace kernels
