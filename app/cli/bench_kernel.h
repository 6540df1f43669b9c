// Measures, for bench --kernel, single kernels beside the memory's own speed.
#pragma once

#include <string>

namespace cli {

/// Prints a row for each as md, json or csv. An exit code.
int bench_kernel(const std::string& name, int threads, const std::string& form);

}  // namespace cli
