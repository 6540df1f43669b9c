// Finds out, where the program runs, whether products are faster that ask for weights before they read them.
#pragma once

#include "kernels/cpu.h"

#include <functional>

namespace kernels {

/// Interleaved rows, far more than caches hold.
struct ManyRows {
    TensorType type;
    int n = 0, rows = 0;
};

/// Seconds of the product of rows [first, first + count) with one token, by all threads that will compute: the more of
/// them share a core and the memory, the more is gained.
using RowSeconds = std::function<double(int first, int count)>;

/// Multiplies pieces of 4 MB by turns with and without `reads_ahead`, and leaves it as it took less time. Nothing,
/// where the rows are too few to tell.
void choose_read_ahead(const ManyRows& rows, const RowSeconds& seconds);

}  // namespace kernels
