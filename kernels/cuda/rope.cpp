#include "kernels/cuda/ops.h"

namespace kernels::cuda {

Status rope(const Driver& driver, Queue queue, Rows x, int heads, int length, DevicePtr cos, DevicePtr sin, int pairs,
            RopePairs order, int rows)
{
    constexpr unsigned kThreads = 128;
    const Dim grid{(unsigned(heads * pairs) + kThreads - 1) / kThreads, unsigned(rows)};
    return driver.launch(Kernel::rope, grid, {kThreads}, 0, queue, x.at, x.stride, heads, length, cos, sin, pairs,
                         int(order == RopePairs::Halves));
}

}  // namespace kernels::cuda
