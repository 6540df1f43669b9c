#include "kernels/cuda/ops.h"

namespace kernels::cuda {

static constexpr unsigned kThreads = 256;

static Dim grid_of(int rows, int n)
{
    return {(unsigned(n) + kThreads - 1) / kThreads, unsigned(rows)};
}

Status add(const Driver& driver, Queue queue, Rows y, int rows, int n, Rows x)
{
    return driver.launch(Kernel::add, grid_of(rows, n), {kThreads}, 0, queue, y.at, y.stride, x.at, x.stride, n);
}

Status soft_cap(const Driver& driver, Queue queue, float cap, int rows, int n, Rows x)
{
    return driver.launch(Kernel::soft_cap, grid_of(rows, n), {kThreads}, 0, queue, cap, x.at, x.stride, n);
}

Status weigh_rows(const Driver& driver, Queue queue, Rows weights, int rows, int n, Rows x)
{
    return driver.launch(Kernel::weigh_rows, grid_of(rows, n), {kThreads}, 0, queue, weights.at, weights.stride, x.at,
                         x.stride, n);
}

}  // namespace kernels::cuda
