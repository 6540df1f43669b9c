#include "kernels/cuda/ops.h"

namespace kernels::cuda {

static constexpr unsigned kThreads = 256;

static Dim grid_of(int rows, int n)
{
    return {(unsigned(n) + kThreads - 1) / kThreads, unsigned(rows)};
}

Status silu_mul(const Driver& driver, Queue queue, Rows gate_up, int rows, int n, Rows out)
{
    return driver.launch(Kernel::silu_mul, grid_of(rows, n), {kThreads}, 0, queue, gate_up.at, gate_up.stride, n,
                         out.at, out.stride);
}

Status gelu_mul(const Driver& driver, Queue queue, Rows gate_up, int rows, int n, Rows out)
{
    return driver.launch(Kernel::gelu_mul, grid_of(rows, n), {kThreads}, 0, queue, gate_up.at, gate_up.stride, n,
                         out.at, out.stride);
}

Status swiglu_oai(const Driver& driver, Queue queue, Rows gate_up, float alpha, float limit, int rows, int n, Rows out)
{
    return driver.launch(Kernel::swiglu_oai, grid_of(rows, n), {kThreads}, 0, queue, gate_up.at, gate_up.stride, alpha,
                         limit, n, out.at, out.stride);
}

}  // namespace kernels::cuda
