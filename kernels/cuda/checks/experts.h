// Checks mixture of experts: the choice, products with each pair's expert, and their sum.
#pragma once

#include "kernels/cuda/check.h"

#include <vector>

namespace kernels::cuda {

void add_expert_checks(std::vector<KernelCheck>& checks);

}  // namespace kernels::cuda
