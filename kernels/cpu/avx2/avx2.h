// Declares the table for processors with AVX2, FMA and F16C.
#pragma once

#include "kernels/cpu.h"

namespace kernels::avx2 {

/// Returns `base` with the slots replaced that this set makes faster.
CpuKernels improve(const CpuKernels& base);

}  // namespace kernels::avx2
