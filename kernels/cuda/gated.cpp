#include "kernels/cuda/ops.h"

namespace kernels::cuda {

Status gated(const Driver& driver, Queue queue, const Gating& gating, Rows gate_up, int rows, int n, Rows out)
{
    constexpr unsigned kThreads = 256;
    return driver.launch(Kernel::gated, {(unsigned(n) + kThreads - 1) / kThreads, unsigned(rows)}, {kThreads}, 0, queue,
                         gate_up.at, gate_up.stride, gating, n, out.at, out.stride);
}

Status gate_heads(const Driver& driver, Queue queue, Rows gates, const Heads& heads, int rows, Rows x)
{
    constexpr unsigned kThreads = 256;
    const unsigned values = unsigned(heads.count) * unsigned(heads.length);
    return driver.launch(Kernel::gate_heads, {(values + kThreads - 1) / kThreads, unsigned(rows)}, {kThreads}, 0, queue,
                         gates.at, gates.stride, heads.count, heads.length, heads.stride, x.at, x.stride);
}

}  // namespace kernels::cuda
