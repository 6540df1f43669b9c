// Checks the search for the largest logits of a row.
#pragma once

#include "kernels/cuda/check.h"

#include <vector>

namespace kernels::cuda {

void add_rank_checks(std::vector<KernelCheck>& checks);

}  // namespace kernels::cuda
