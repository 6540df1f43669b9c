// Declares the table for processors with AMX (tiles of bytes) on top of AVX-512: Intel's servers since 2023.
#pragma once

#include "kernels/cpu.h"

namespace kernels::amx {

/// Says what multiplies tiles: the processor's tile registers, or for tests plain C++, which is slow but runs on every
/// processor with AVX-512.
enum class Tiles { Hardware, Emulated };

/// Asks the system to let this process use the tile registers, whose contents it must save. Returns whether that is
/// granted.
bool permitted();

/// Says whether this processor's tiles compute what the emulated ones do. Call it only after permitted() was true.
bool tiles_agree();

/// Returns `base`, which is avx512's table, with the slots replaced that this set makes faster.
CpuKernels improve(const CpuKernels& base, Tiles tiles);

}  // namespace kernels::amx
