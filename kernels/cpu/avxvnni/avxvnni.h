// Declares the table for processors with AVX-VNNI on top of AVX2: most of Intel's since 2021 that have no AVX-512.
#pragma once

#include "kernels/cpu.h"

namespace kernels::avxvnni {

/// Says how the processor spells the instruction: those with AVX-512 may know only its own form.
enum class Encoding { Vex, Evex };

/// `base`, which is avx2's table, with the slots replaced that this set makes faster.
CpuKernels improve(const CpuKernels& base, Encoding encoding);

}  // namespace kernels::avxvnni
