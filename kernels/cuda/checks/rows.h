// Checks operations on rows of activations: norms, rotations, sums, caps, gates, rounding.
#pragma once

#include "kernels/cuda/check.h"

#include <vector>

namespace kernels::cuda {

void add_row_checks(std::vector<KernelCheck>& checks);

}  // namespace kernels::cuda
