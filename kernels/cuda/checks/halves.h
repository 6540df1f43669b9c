// Checks activations and packed weights as halves: the very bits that the host makes.
#pragma once

#include "kernels/cuda/check.h"

#include <vector>

namespace kernels::cuda {

void add_halves_checks(std::vector<KernelCheck>& checks);

}  // namespace kernels::cuda
