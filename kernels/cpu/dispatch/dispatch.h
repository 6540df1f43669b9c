// Chooses the kernel table that the program runs with; nothing else decides that. Tests call the choice with tables of
// their own, which is why it has a header beside cpu.h.
#pragma once

#include "kernels/cpu.h"

namespace kernels {

struct Choice {
    const CpuKernels* table;
    bool unknown = false;  // a name was forced that no table here has
};

/// Returns the table called `forced`, or if that is null the last of the tables, AMX's left out. A name that no table
/// has gives the first, which is the slowest, so that a misspelling is noticed. tables: at least one.
Choice choose_table(std::span<const CpuKernels> tables, const char* forced);

}  // namespace kernels
