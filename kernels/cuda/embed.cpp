#include "kernels/cuda/of_type.h"
#include "kernels/cuda/ops.h"

namespace kernels::cuda {

Status embed(const Driver& driver, Queue queue, TensorType type, DevicePtr table, DevicePtr ids, float scale, int rows,
             int n, Rows out)
{
    if (n % 4 != 0)
        return Status::InvalidValue;
    constexpr unsigned kThreads = 128;
    const Dim grid{(unsigned(n) / 4 + kThreads - 1) / kThreads, unsigned(rows)};
    return driver.launch(of_type(Kernel::embed_f32, type), grid, {kThreads}, 0, queue, ids, table, row_bytes(type, n),
                         scale, n, out.at, out.stride);
}

}  // namespace kernels::cuda
