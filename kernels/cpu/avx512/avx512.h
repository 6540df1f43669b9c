// Declares the table for processors with AVX-512 F, BW, VL, DQ and VNNI.
#pragma once

#include "kernels/cpu.h"

namespace kernels::avx512 {

/// Returns `base` with the slots replaced that this set makes faster.
CpuKernels improve(const CpuKernels& base);

}  // namespace kernels::avx512
