#include "kernels/cuda/ops.h"

namespace kernels::cuda {

Status rms_norm(const Driver& driver, Queue queue, Rows x, DevicePtr weight, float eps, int rows, int dim, Rows out)
{
    constexpr unsigned kThreads = 512;  // a decode step has one row: it is the latency of one block that counts
    return driver.launch(Kernel::rms_norm, {unsigned(rows)}, {kThreads}, 0, queue, x.at, x.stride, weight, eps, dim,
                         out.at, out.stride);
}

Status layer_norm(const Driver& driver, Queue queue, Rows x, DevicePtr weight, float eps, int rows, int dim, Rows out)
{
    constexpr unsigned kThreads = 512;
    return driver.launch(Kernel::layer_norm, {unsigned(rows)}, {kThreads}, 0, queue, x.at, x.stride, weight, eps, dim,
                         out.at, out.stride);
}

Status norm_heads(const Driver& driver, Queue queue, Rows x, const Heads& heads, DevicePtr weight, float eps, int rows,
                  Rows out)
{
    constexpr unsigned kHeadsPerBlock = 4;  // a warp each
    const Dim grid{(unsigned(heads.count) + kHeadsPerBlock - 1) / kHeadsPerBlock, unsigned(rows)};
    return driver.launch(Kernel::norm_heads, grid, {32 * kHeadsPerBlock}, 0, queue, x.at, x.stride, heads.count,
                         heads.length, heads.stride, weight, eps, out.at, out.stride);
}

}  // namespace kernels::cuda
