// Runs a kernel as a GPU would: blocks of threads with barriers, warps that exchange values, shared memory. Blocks run
// one after the other on the calling thread; within a block the order of the threads is shuffled, so that a barrier
// that is missing shows.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

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
