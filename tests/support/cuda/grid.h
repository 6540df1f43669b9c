// Runs a kernel as a GPU would. Blocks run in shuffled order and on several threads of the host, so that a block that
// counts on another one shows; multiprocessor.h has what happens within a block.
#pragma once

#include <cstddef>
#include <cstdint>
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

struct GridRun {
    std::string fault;        // what the kernel did that no GPU would take: then the rest did not run; else empty
    std::uint64_t stops = 0;  // of all warps, at barriers and to exchange values: how much the launch computes
};

/// Runs all blocks.
GridRun run_grid(const kernels::cuda::host::HostKernel& kernel, void** arguments, GridDim grid, GridDim block,
                 std::size_t shared_bytes);

}  // namespace emulator
