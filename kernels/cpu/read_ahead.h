// Says for which types of weights products do not prefetch.
#pragma once

#include "kernels/types.h"

#include <array>
#include <atomic>

namespace kernels {

/// Says for each type whether products should not prefetch: true where prefetching the weights that come 4 KB later was
/// measured not to make products of one or two tokens with interleaved rows clearly faster, as where the processor
/// reads early enough by itself. False until it is measured: then products prefetch. The bits are the same either way.
/// Any thread may change it.
inline std::array<std::atomic<bool>, kTensorTypeIds> slower_for_reading_ahead = {};

}  // namespace kernels
