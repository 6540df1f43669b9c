// Declares the table for processors with AMX (tiles of bytes) on top of AVX-512: Intel's servers since 2023.
#pragma once

#include "kernels/cpu.h"

namespace kernels::amx {

/// Emulated: by plain C++, slowly, on every processor with AVX-512: for tests.
enum class Tiles { Hardware, Emulated };

/// Asks the system to let this process use the tile registers, whose contents it must save. True: it may.
bool permitted();

/// Says whether this processor's tiles compute what the emulated ones do. Only where they are permitted.
bool tiles_agree();

/// `base`, which is avx512's table, with the slots replaced that this set makes faster.
CpuKernels improve(const CpuKernels& base, Tiles tiles);

}  // namespace kernels::amx
