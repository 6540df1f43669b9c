#include "kernels/cuda/ops.h"

namespace kernels::cuda {

Status store_kv(const Driver& driver, Queue queue, const KvBlocks& kv, DevicePtr k, DevicePtr v, int stride,
                DevicePtr first, int tokens)
{
    if (kv.layout.k_dim % 4 != 0 || kv.layout.v_dim % 4 != 0)
        return Status::InvalidValue;
    const Dim grid{unsigned(kv.heads), unsigned(tokens)};
    return driver.launch(Kernel::store_kv, grid, {64}, 0, queue, kv.layout, k, v, stride, kv.blocks, first);
}

}  // namespace kernels::cuda
