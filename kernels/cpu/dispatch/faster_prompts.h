// Finds out, where the program runs, which of two tables multiplies prompts faster, and combines them.
#pragma once

#include "kernels/cpu.h"

#include <functional>

namespace kernels {

/// Returns the seconds that a table takes for a prompt's product with weights of this type.
using PromptSeconds = std::function<double(const CpuKernels&, TensorType)>;

/// Returns `plain` with the products of `tiles` for those types where they take less time: both give the same bits. The
/// result has the name of `plain`, since all its other kernels are those of `plain`.
CpuKernels with_faster_prompts(const CpuKernels& plain, const CpuKernels& tiles, const PromptSeconds& seconds);

/// Measures a small product on this thread, which takes some 0.2 ms.
double prompt_seconds(const CpuKernels& table, TensorType type);

}  // namespace kernels
