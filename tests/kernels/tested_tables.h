// tested_tables() says which of this machine's tables of kernels are to be tried.
#pragma once

#include "kernels/cpu.h"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace test_support {

/// The one that a test on an emulated processor is about: SPILLWAY_TEST_TABLE; null: the processor is a real one. What
/// its code computes has been compared on this machine, over all shapes; emulated it has to come by every instruction,
/// for which fewer shapes do.
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
