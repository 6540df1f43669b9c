// tested_tables() says which of this machine's tables of kernels are to be tried.
#pragma once

#include "kernels/cpu.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace test_support {

/// Returns the name in SPILLWAY_TEST_TABLE, of the table that a test on an emulated processor is about; null on a real
/// processor. There the table's results are compared over all shapes. On the emulated one only each of its instructions
/// has to be run, for which fewer shapes do.
inline const char* emulated_table()
{
    return std::getenv("SPILLWAY_TEST_TABLE");
}

/// Returns all tables that the machine has, unless one is named.
inline const std::vector<kernels::CpuKernels>& tested_tables()
{
    static const std::vector<kernels::CpuKernels> tables = [] {
        std::vector<kernels::CpuKernels> found;
        for (const kernels::CpuKernels& table : kernels::all_cpu_kernels())
            if (!emulated_table() || table.name == std::string_view(emulated_table()))
                found.push_back(table);
        if (found.empty()) {
            std::fprintf(stderr, "there is no table %s\n", emulated_table());
            std::abort();
        }
        return found;
    }();
    return tables;
}

}  // namespace test_support
