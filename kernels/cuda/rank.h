// Declares what the search for the largest logits and its launcher agree on.
#pragma once

namespace kernels::cuda {

constexpr int kRankRun = 2048;  // values that a thread block sorts
constexpr int kRankThreads = 512;

}  // namespace kernels::cuda
