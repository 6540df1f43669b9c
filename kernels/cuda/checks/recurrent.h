// Checks the kernels of recurrent layers: convolutions, linear attention with its state, norms and gates after it.
#pragma once

#include "kernels/cuda/check.h"

#include <vector>

namespace kernels::cuda {

void add_recurrent_checks(std::vector<KernelCheck>& checks);
void add_linear_attention_checks(std::vector<KernelCheck>& checks);

}  // namespace kernels::cuda
