// Says of which types of weights products ask for what they will read before they read it.
#pragma once

#include "kernels/types.h"

#include <array>
#include <atomic>

namespace kernels {

/// By type: whether it is slower that products of one or two tokens with interleaved rows ask for the weights that come
/// 4 KB later. Where the processor begins to read early enough by itself, that only costs; the bits are the same. Until
/// it is found out they ask. Any thread may change it.
inline std::array<std::atomic<bool>, kTensorTypeIds> slower_for_reading_ahead = {};

}  // namespace kernels
