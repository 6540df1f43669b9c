// Says what the kernels of residual streams and their launchers agree on.
#pragma once

namespace kernels::cuda {

constexpr int kMostStreams = 8;
constexpr int kMostSpreadTaps = 48;  // of the convolution over n-grams, zeros between them included

/// The streams of each row follow each other: (rows, count, dim) at `stride` floats from row to row.
struct StreamRows {
    float* at;
    int stride;
    int count, dim;
};

/// Holds the outputs of a layer's router for its streams, and the matrix that turns them into coefficients. routed:
/// (rows, count)
struct RoutedArguments {
    const float* routed;
    int stride;
    const float* coefficients;  // (how many are made, count)
};

}  // namespace kernels::cuda
