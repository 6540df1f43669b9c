// Names the kernel table that this program computes with, and whose products it borrows from another table.
#pragma once

#include "kernels/cpu.h"

#include <span>
#include <string>

namespace engine {

/// Returns "avx512", or "avx512; prompts by amx: Q4_0, Q8_0" where products of these types come from the last of
/// `tables`.
std::string describe(const kernels::CpuKernels& table, std::span<const kernels::CpuKernels> tables);

/// Returns the name of the kernel table in use.
std::string kernels_in_use();

}  // namespace engine
