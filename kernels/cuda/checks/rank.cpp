#include "kernels/cuda/checks/checks.h"

#include "kernels/cuda/checks/compare.h"
#include "kernels/cuda/ops.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

namespace kernels::cuda {

namespace {

float finite(float x)
{
    constexpr float kMax = std::numeric_limits<float>::max();
    return x > -kMax ? std::min(x, kMax) : -kMax;
}

/// Returns logits, many of them equal. `wild`: some are infinite or NaN
std::vector<float> random_logits(int n, bool wild, std::mt19937& random)
{
    std::normal_distribution<float> normal(0.0f, 3.0f);
    std::vector<float> logits(static_cast<std::size_t>(n));
    for (float& x : logits)
        x = std::round(normal(random) * 8) / 8;
    if (wild)
        for (const float x : {std::numeric_limits<float>::infinity(), -std::numeric_limits<float>::infinity(),
                              std::numeric_limits<float>::quiet_NaN(), -0.0f})
            for (int time = 0; time < 3; ++time)
                logits[random() % logits.size()] = x;
    return logits;
}

std::vector<int> best_of(const std::vector<float>& logits, int kept)
{
    std::vector<int> order(logits.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return finite(logits[std::size_t(a)]) > finite(logits[std::size_t(b)]); });
    order.resize(std::size_t(kept));
    return order;
}

// All that is added is positive: each rounding is a relative half epsilon, as many in a chain as a thread adds and ten
// for the tree, twice; exp and log are good to two units, and exp's argument is rounded once: up to a few tens of them.
double log_sum_error(const std::vector<float>& logits, float actual)
{
    double largest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const float x : logits)
        largest = std::max(largest, double(finite(x)));
    for (const float x : logits)
        sum += std::exp(double(finite(x)) - largest);
    const double expected = largest + std::log(sum);
    return share_of((40 + 30 + 2 * std::abs(expected)) * kHalfEpsilon, double(actual), expected);
}

Checked check_rank(const Driver& driver, unsigned seed)
{
    std::mt19937 random(seed);
    Checked checked;
    for (const auto& [n, kept] : {std::pair{1, 1}, {300, 1}, {2048, 40}, {5000, 256}, {20001, 256}, {9000, 7}})
        for (const bool wild : {false, true}) {
            const std::vector<float> logits = random_logits(n, wild, random);
            DeviceMemory on(driver);
            const Ranked to{on.room(std::size_t(kept) * sizeof(float)), on.room(std::size_t(kept) * sizeof(int)),
                            on.room(sizeof(float))};
            on.keep(rank(driver, on.queue(), on.put(logits), n, kept, on.room(RankLayout(n, kept).bytes), to));
            const std::vector<int> best = best_of(logits, kept);
            std::vector<float> largest;
            for (const int i : best)
                largest.push_back(finite(logits[std::size_t(i)]));
            const std::string where = std::to_string(kept) + " of " + std::to_string(n) + (wild ? ", wild" : "");
            note(checked, on, share_of_same(on.get<int>(to.indices, best.size()), best), where);
            note(checked, on, share_of_same(on.get<float>(to.logits, largest.size()), largest), where);
            if (!wild)  // one that is infinite is the whole sum
                note(checked, on, log_sum_error(logits, on.get<float>(to.log_sum, 1).front()), where);
        }
    return checked;
}

}  // namespace

void add_rank_checks(std::vector<KernelCheck>& checks)
{
    checks.push_back({"largest logits", check_rank});
}

}  // namespace kernels::cuda
