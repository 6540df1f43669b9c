// Checks how keys and values come into KV blocks.
#pragma once

#include "kernels/cuda/check.h"

#include <vector>

namespace kernels::cuda {

void add_store_kv_checks(std::vector<KernelCheck>& checks);

}  // namespace kernels::cuda
