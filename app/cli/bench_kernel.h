// Measures, for bench --kernel, single kernels beside the memory's own speed.
#pragma once

#include <string>

namespace cli {

/// Prints a row for each kernel as md, json or csv. Returns an exit code.
int bench_kernel(const std::string& name, int threads, const std::string& form);

}  // namespace cli
