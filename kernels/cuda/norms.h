// Declares what the norms of rows and their launchers agree on.
#pragma once

#include "kernels/cuda/rounded_rows.h"

namespace kernels::cuda {

constexpr int kNormThreads = 512;  // of a row, at most: a decode step has one row only, whose latency counts

/// Returns how many threads take a row of this many values, four at a time.
constexpr int norm_threads(int dim)
{
    const int warps = (dim + 4 * 32 - 1) / (4 * 32);
    return 32 * warps < kNormThreads ? 32 * warps : kNormThreads;
}

/// Says what a row is normed with, and where the result goes. Null weight: it is not normed.
struct NormOfRow {
    const float* weight;
    float epsilon;
    float* out;
    RoundedRows rounded;
};

}  // namespace kernels::cuda
