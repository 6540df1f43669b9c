// Measures on this machine for which types of weights prefetching makes products faster.
#pragma once

#include "kernels/types.h"

#include <cstddef>
#include <functional>

namespace kernels {

// How much is measured: more than caches hold, in pieces that take longer than dividing them among threads.
constexpr std::size_t kReadAheadBytes = std::size_t(64) << 20;
constexpr std::size_t kReadAheadPieceBytes = std::size_t(4) << 20;

/// Seconds of the product of a piece of weights, interleaved rows of the type, with one token, by all threads that will
/// compute: the more of them share a core and the memory, the more may be gained.
using PieceSeconds = std::function<double(int piece)>;

/// Multiplies all pieces twice, once asking and once not, each time the neighbours of a piece the other way. From now
/// on products of the type ask if most pieces took clearly less time for it. Nothing changes where there are no pieces.
void choose_read_ahead(TensorType type, int pieces, const PieceSeconds& seconds);

}  // namespace kernels
