#include "kernels/cuda/experts.h"
#include "kernels/cuda/ops.h"

namespace kernels::cuda {

static ExpertScores scores_of(const Choice& choice)
{
    if (choice.scores == Choice::Scores::Sigmoid)
        return ExpertScores::Sigmoid;
    return choice.sum_to_one && choice.bias == 0 && choice.groups == 0 ? ExpertScores::SoftmaxOfChosen
                                                                       : ExpertScores::Softmax;
}

static bool makes_groups(const Choice& choice, const Routing& to)
{
    return choice.groups == 0 ||
           (choice.groups > 0 && choice.groups <= kMostExpertGroups && to.experts % choice.groups == 0 &&
            choice.groups_used > 0 && choice.groups_used <= choice.groups &&
            to.used <= to.experts / choice.groups * choice.groups_used);
}

Status route(const Driver& driver, Queue queue, Rows logits, const Choice& choice, const Routing& to)
{
    constexpr unsigned kThreads = 32;
    if (to.used < 1 || to.used > to.experts || !makes_groups(choice, to))
        return Status::InvalidValue;
    const ChooseArguments arguments{
        .logits = reinterpret_cast<const float*>(logits.at),
        .stride = logits.stride,
        .experts = to.experts,
        .used = to.used,
        .scores = scores_of(choice),
        .sum_to_one = choice.sum_to_one,
        .least_sum = choice.least_sum,
        .scale = choice.scale,
        .bias = reinterpret_cast<const float*>(choice.bias),
        .groups = choice.groups,
        .groups_used = choice.groups_used,
        .chosen = reinterpret_cast<int*>(to.chosen),
        .weights = reinterpret_cast<float*>(to.weights),
    };
    const Status status =
        driver.launch_early(Kernel::choose_experts, {unsigned(to.rows)}, {kThreads}, 0, queue, arguments);
    if (status != Status::Ok || to.rows <= kFewTokens)
        return status;
    return driver.launch(Kernel::sort_pairs, {unsigned(to.experts)}, {kThreads}, 0, queue, to.chosen, to.rows * to.used,
                         to.sorted, to.begin);
}

Status scale_weights(const Driver& driver, Queue queue, DevicePtr scale, const Routing& routing)
{
    constexpr unsigned kThreads = 256;
    const int pairs = routing.rows * routing.used;
    return driver.launch_early(Kernel::scale_weights, {(unsigned(pairs) + kThreads - 1) / kThreads}, {kThreads}, 0,
                               queue, scale, routing.chosen, routing.weights, pairs);
}

Status sum_experts(const Driver& driver, Queue queue, Rows y, const Routing& routing, int n, Rows out)
{
    constexpr unsigned kThreads = 256;
    const Dim grid{(unsigned(n) + kThreads - 1) / kThreads, unsigned(routing.rows)};
    return driver.launch_early(Kernel::sum_experts, grid, {kThreads}, 0, queue, y.at, y.stride, routing.weights,
                               routing.chosen, routing.places, routing.used, n, out.at, out.stride);
}

Status weigh_pairs(const Driver& driver, Queue queue, Rows x, const Routing& routing, int n, Rows out)
{
    constexpr unsigned kThreads = 256;
    const Dim grid{(unsigned(n) + kThreads - 1) / kThreads, unsigned(routing.rows * routing.used)};
    return driver.launch_early(Kernel::weigh_pairs, grid, {kThreads}, 0, queue, x.at, x.stride, routing.weights,
                               routing.used, n, out.at, out.stride);
}

}  // namespace kernels::cuda
