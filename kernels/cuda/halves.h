// Declares what the kernels that make halves and their launchers agree on.
#pragma once

namespace kernels::cuda {

constexpr int kHalvesThreads = 128;
constexpr int kWeightsOfThread = 16;           // that a thread turns into halves: half a group
constexpr int kLargestParts = kHalvesThreads;  // thread blocks that look for the largest magnitude, one result each
constexpr int kLargestThreads = 512;

/// Holds what a product of halves reads on the device.
struct HalfScalars {
    float undo;  // the power of two that the rows are to be multiplied with
    float zero, one;
    float largest[kLargestParts];
};

}  // namespace kernels::cuda
