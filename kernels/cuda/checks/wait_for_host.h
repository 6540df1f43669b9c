// Checks the flags between a device and its host.
#pragma once

#include "kernels/cuda/check.h"

#include <vector>

namespace kernels::cuda {

void add_flag_checks(std::vector<KernelCheck>& checks);

}  // namespace kernels::cuda
