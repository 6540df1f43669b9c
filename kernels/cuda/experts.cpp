#include "kernels/cuda/ops.h"

namespace kernels::cuda {

Status route(const Driver& driver, Queue queue, Rows logits, float scale, const Routing& to)
{
    constexpr unsigned kThreads = 32;
    if (to.used < 1 || to.used > to.experts)
        return Status::InvalidValue;
    const Status status = driver.launch(Kernel::choose_experts, {unsigned(to.rows)}, {kThreads}, 0, queue, logits.at,
                                        logits.stride, to.experts, to.used, scale, to.chosen, to.weights);
    if (status != Status::Ok || to.rows <= kFewTokens)
        return status;
    return driver.launch(Kernel::sort_pairs, {unsigned(to.experts)}, {kThreads}, 0, queue, to.chosen, to.rows * to.used,
                         to.sorted, to.begin);
}

Status scale_weights(const Driver& driver, Queue queue, DevicePtr scale, const Routing& routing)
{
    constexpr unsigned kThreads = 256;
    const int pairs = routing.rows * routing.used;
    return driver.launch(Kernel::scale_weights, {(unsigned(pairs) + kThreads - 1) / kThreads}, {kThreads}, 0, queue,
                         scale, routing.chosen, routing.weights, pairs);
}

Status sum_experts(const Driver& driver, Queue queue, Rows y, const Routing& routing, int n, Rows out)
{
    constexpr unsigned kThreads = 256;
    const Dim grid{(unsigned(n) + kThreads - 1) / kThreads, unsigned(routing.rows)};
    return driver.launch(Kernel::sum_experts, grid, {kThreads}, 0, queue, y.at, y.stride, routing.weights, routing.used,
                         n, out.at, out.stride);
}

}  // namespace kernels::cuda
