// Measures on this machine for which types of weights prefetching makes products faster.
#pragma once

#include "kernels/types.h"

#include <cstddef>
#include <functional>

namespace kernels {

// Bytes of weights that are measured, which are more than caches hold, and of one piece of them. Multiplying a piece
// takes longer than dividing it among the threads.
constexpr std::size_t kReadAheadBytes = std::size_t(64) << 20;
constexpr std::size_t kReadAheadPieceBytes = std::size_t(4) << 20;

/// Returns the seconds that the product of a piece of weights (interleaved rows of the type) with one token takes on
/// all threads that will compute: the more of them share a core and the memory, the more prefetching may gain.
using PieceSeconds = std::function<double(int piece)>;

/// Multiplies every piece twice, once with prefetching and once without; from piece to piece the two alternate. From
/// now on products of the type prefetch if most pieces were clearly faster with it. Without pieces nothing changes.
void choose_read_ahead(TensorType type, int pieces, const PieceSeconds& seconds);

}  // namespace kernels
