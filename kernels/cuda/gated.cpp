#include "kernels/cuda/ops.h"

namespace kernels::cuda {

Status gated(const Driver& driver, Queue queue, const Gating& gating, Rows gate_up, int rows, int n, Rows out)
{
    constexpr unsigned kThreads = 256;
    return driver.launch(Kernel::gated, {(unsigned(n) + kThreads - 1) / kThreads, unsigned(rows)}, {kThreads}, 0, queue,
                         gate_up.at, gate_up.stride, gating, n, out.at, out.stride);
}

}  // namespace kernels::cuda
