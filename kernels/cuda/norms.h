// Declares what the norms of rows and their launchers agree on.
#pragma once

namespace kernels::cuda {

constexpr int kNormThreads = 512;  // of a row, at most: in a decode step there is one, and its latency counts

}  // namespace kernels::cuda
