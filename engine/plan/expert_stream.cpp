#include "engine/plan/expert_stream.h"

#include "kernels/cpu.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace engine {

namespace {

constexpr double kLeastGain = 0.05;    // of the time of a layer's experts, for which a device gives room for a ring
constexpr double kBeyondCaches = 1e9;  // bytes

bool is_packed(const Matrix& stack)
{
    return kernels::activation_of(stack.type) == kernels::Activation::Q8;
}

/// Says whether a layer's experts may come. How fast a GPU multiplies many rows is known of packed matrices alone.
bool may_come(const LayerWeights& w, const DeviceLayout& layout, int l)
{
    bool all = layout.layer(l).expert > 0;
    if (layout.transport() == DeviceLayout::Transport::Link)
        for_each_expert_stack(w, [&](const Matrix& stack) { all = all && is_packed(stack); });
    return all;
}

std::optional<ExpertCosts> costs_of(const LayerWeights& w, const MachineRates& rates, const DeviceRates& device)
{
    if (!device.unlocked_to_device_bytes_per_s || !device.matmul_ops_per_s)
        return std::nullopt;
    ExpertCosts costs;
    bool known = true;
    for_each_expert_stack(w, [&](const Matrix& stack) {
        const std::string_view type = kernels::type_traits(stack.type).name;
        const auto bytes = double(stack.bytes());
        // Activations of 16 bits are two parts of 8.
        const double operations = (is_packed(stack) ? 2 : 1) * 2.0 * stack.rows * stack.n;
        const auto read = rates.product_seconds(type, stack.n, bytes, kBeyondCaches);
        const auto row = rates.prompt_seconds(type, stack.n, operations);
        known = known && read && row;
        costs.here += read.value_or(0);
        costs.here_per_row += row.value_or(0);
        costs.there += bytes / *device.unlocked_to_device_bytes_per_s;
        costs.there_per_row += operations / *device.matmul_ops_per_s;
    });
    costs.slower_beside = rates.threads > 1 ? rates.threads / (rates.threads - 1.0) : 2;
    return known ? std::optional(costs) : std::nullopt;
}

/// Says whether copying pays in a step of this many rows, which choose all experts alike.
bool pays(const ExpertCosts& costs, const Hyperparameters& h, int rows)
{
    const std::vector<int> of_each(std::size_t(h.experts), std::max(1, rows * h.experts_used / h.experts));
    std::vector<int> order(of_each.size());
    std::iota(order.begin(), order.end(), 0);
    const double alone = double(h.experts) * costs.here_s(of_each.front());
    return costs.choose(of_each, order) <= (1 - kLeastGain) * alone;
}

std::int64_t largest_matrix(const LayerWeights& w)
{
    std::size_t bytes = 0;
    for_each_expert_stack(w, [&](const Matrix& stack) { bytes = std::max(bytes, stack.bytes()); });
    return std::int64_t(bytes);
}

}  // namespace

bool holds_experts_twice(const Hyperparameters& h, const Weights& weights, std::optional<std::int64_t> memory_bytes)
{
    double bytes = 0;
    for (const LayerWeights& w : weights.layers)
        for_each_expert_stack(w, [&](const Matrix& stack) { bytes += double(stack.bytes()) * h.experts; });
    return !memory_bytes || 2 * bytes <= 0.9 * double(*memory_bytes);
}

std::vector<std::optional<ExpertCosts>> plan_expert_ring(const Hyperparameters& h, const Weights& weights,
                                                         const MachineRates* rates, const DeviceRates& device,
                                                         int max_rows, std::optional<std::int64_t> memory_bytes,
                                                         DeviceLayout& layout)
{
    const bool reads_at_once =
        layout.transport() != DeviceLayout::Transport::Link || holds_experts_twice(h, weights, memory_bytes);
    std::vector<std::optional<ExpertCosts>> costs;
    for (int l = 0; l < layout.num_layers(); ++l) {
        const LayerWeights& w = weights.layers[std::size_t(l)];
        auto of_layer = rates && reads_at_once && may_come(w, layout, l) ? costs_of(w, *rates, device) : std::nullopt;
        if (of_layer && !pays(*of_layer, h, max_rows))
            of_layer.reset();
        layout.set_matrix(l, of_layer ? largest_matrix(w) : 0);
        costs.push_back(of_layer);
    }
    return costs;
}

}  // namespace engine
