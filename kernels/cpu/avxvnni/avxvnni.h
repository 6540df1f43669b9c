// Declares the table for processors with AVX-VNNI on top of AVX2: most of Intel's since 2021 that have no AVX-512.
#pragma once

#include "kernels/cpu.h"

namespace kernels::avxvnni {

/// The encoding of the instruction: processors with AVX-512 may know only Evex, which is AVX-512's own.
enum class Encoding { Vex, Evex };

/// Returns `base`, which is avx2's table, with the slots replaced that this set makes faster.
CpuKernels improve(const CpuKernels& base, Encoding encoding);

}  // namespace kernels::avxvnni
