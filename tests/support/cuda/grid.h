// Runs a kernel as a GPU would. Blocks run in shuffled order and on several threads of the host, so that a block that
// counts on another one shows; multiprocessor.h has what happens within a block.
#pragma once

#include <cstddef>
#include <string>

namespace kernels::cuda::host {
struct HostKernel;
}

namespace emulator {

struct GridDim {
    unsigned x = 1, y = 1, z = 1;
};

/// The kernel of that name that was compiled for the host, or null.
const kernels::cuda::host::HostKernel* find_kernel(const std::string& name);

/// Runs all blocks. Empty, or what the kernel did that no GPU would take: then the rest did not run.
std::string run_grid(const kernels::cuda::host::HostKernel& kernel, void** arguments, GridDim grid, GridDim block,
                     std::size_t shared_bytes);

}  // namespace emulator
