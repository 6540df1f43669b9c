#include "kernels/cuda/halves.h"

#include "kernels/cuda/of_type.h"
#include "kernels/cuda/ops.h"

namespace kernels::cuda {

static Dim grid_of(int rows, int n, int values_of_thread)
{
    return {unsigned(rows), (unsigned(n / values_of_thread) + kHalvesThreads - 1) / kHalvesThreads};
}

Status rows_to_halves(const Driver& driver, Queue queue, Rows x, int rows, int n, const HalfRows& to)
{
    if (n % 4 != 0 || x.stride % 4 != 0 || x.at % sizeof(float[4]) != 0)
        return Status::InvalidValue;
    const Status status = driver.launch(Kernel::halves_largest, {kLargestParts}, {kLargestThreads}, 0, queue, x.at,
                                        x.stride, rows, n, to.scalars);
    if (status != Status::Ok)
        return status;
    return driver.launch(Kernel::halves_of_rows, grid_of(rows, n, 4), {kHalvesThreads}, 0, queue, x.at, x.stride, n,
                         to.scalars, to.at);
}

Status weights_to_halves(const Driver& driver, Queue queue, TensorType type, DevicePtr weights, int rows, int n,
                         DevicePtr to)
{
    if (!is_packed(type) || n % type_traits(type).block_len != 0)
        return Status::InvalidValue;
    return driver.launch(of_packed_type(Kernel::halves_q4_0, type), grid_of(rows, n, kWeightsOfThread),
                         {kHalvesThreads}, 0, queue, weights, row_bytes(type, n), n, to);
}

}  // namespace kernels::cuda
