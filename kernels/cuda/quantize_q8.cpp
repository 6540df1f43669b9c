#include "kernels/cuda/ops.h"

namespace kernels::cuda {

Status quantize_q8(const Driver& driver, Queue queue, Rows x, int rows, int n, Q8Rows out, DevicePtr residual)
{
    if (n % 32 != 0)
        return Status::InvalidValue;
    constexpr unsigned kGroupsPerBlock = 8;  // a warp each
    const Dim grid{(unsigned(n) / 32 + kGroupsPerBlock - 1) / kGroupsPerBlock, unsigned(rows)};
    return driver.launch(Kernel::quantize_q8, grid, {32 * kGroupsPerBlock}, 0, queue, x.at, x.stride, n, out.at,
                         residual, out.stride);
}

}  // namespace kernels::cuda
