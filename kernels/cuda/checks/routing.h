// Makes cases of routing for the checks of the choice of experts and of their products.
#pragma once

#include "kernels/cuda/checks/device_memory.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace kernels::cuda {

/// Rows that choose `used` of this many experts each.
struct RoutingShape {
    int rows, used, experts;
};

inline std::string name_of(const RoutingShape& s)
{
    return std::to_string(s.rows) + " rows, " + std::to_string(s.used) + " of " + std::to_string(s.experts);
}

/// Takes room for the routing, in memory that holds nothing yet.
inline Routing room_for_routing(DeviceMemory& on, const RoutingShape& s)
{
    const auto pairs = std::size_t(s.rows * s.used);
    return {.rows = s.rows,
            .used = s.used,
            .experts = s.experts,
            .chosen = on.room(pairs * sizeof(int)),
            .weights = on.room(pairs * sizeof(float)),
            .sorted = on.room(pairs * sizeof(int)),
            .begin = on.room(std::size_t(s.experts + 1) * sizeof(int))};
}

/// Returns logits, (rows, experts), some of them equal.
inline std::vector<float> random_logits(const RoutingShape& s, std::mt19937& random)
{
    std::vector<float> logits(std::size_t(s.rows * s.experts));
    for (float& v : logits)
        v = float(int(random() % 64)) / 8.0f - 4.0f;
    return logits;
}

/// Returns each row's best experts, (rows, used), found by sorting.
inline std::vector<int> best_of_each_row(const std::vector<float>& logits, const RoutingShape& s)
{
    std::vector<int> best;
    std::vector<int> order(static_cast<std::size_t>(s.experts));
    for (int r = 0; r < s.rows; ++r) {
        const float* row = &logits[std::size_t(r * s.experts)];
        std::iota(order.begin(), order.end(), 0);
        std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return row[a] > row[b]; });
        best.insert(best.end(), order.begin(), order.begin() + s.used);
    }
    return best;
}

}  // namespace kernels::cuda
