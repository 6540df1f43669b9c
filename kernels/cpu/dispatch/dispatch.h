// Chooses the kernel table that the program runs with; nothing else decides that. Tests also ask what it would
// choose, which is why it has a header of its own beside cpu.h.
#pragma once

#include "kernels/cpu.h"

namespace kernels {

struct Choice {
    const CpuKernels* table;
    bool unknown = false;  // a table was asked for by a name that no table here has
};

/// The last of the tables but for AMX's, or the one called `forced` if that is not null. A misspelt name must show up
/// as slow, not pass silently as fast: it gives the first table. Tables: at least one.
Choice choose_table(std::span<const CpuKernels> tables, const char* forced);

}  // namespace kernels
