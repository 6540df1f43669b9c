// Names the kernel table that this program computes with, and whose products it borrows from another table.
#pragma once

#include "kernels/cpu.h"

#include <span>
#include <string>

namespace engine {

/// "avx512", or "avx512; prompts by amx: Q4_0, Q8_0" where it has those products of the last of `tables`.
std::string describe(const kernels::CpuKernels& table, std::span<const kernels::CpuKernels> tables);

/// The name of the kernel table in use.
std::string kernels_in_use();

}  // namespace engine
