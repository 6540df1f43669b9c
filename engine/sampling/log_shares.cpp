#include "engine/sampling/log_shares.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace engine {

float finite_logit(float x)
{
    constexpr float kMax = std::numeric_limits<float>::max();
    return x > -kMax ? std::min(x, kMax) : -kMax;
}

double log_sum_of_exps(std::span<const float> logits)
{
    double largest = std::numeric_limits<double>::lowest(), sum = 0;
    for (const float logit : logits)
        largest = std::max(largest, double(finite_logit(logit)));
    for (const float logit : logits)
        sum += std::exp(double(finite_logit(logit)) - largest);
    return largest + std::log(sum);
}

std::vector<int> ids_of_largest(std::span<const float> logits, int count)
{
    std::vector<int> ids(logits.size());
    std::iota(ids.begin(), ids.end(), 0);
    const auto wanted = std::min(ids.size(), std::size_t(std::max(count, 0)));
    const auto better = [&](int a, int b) {
        const float x = finite_logit(logits[std::size_t(a)]), y = finite_logit(logits[std::size_t(b)]);
        return x != y ? x > y : a < b;
    };
    std::partial_sort(ids.begin(), ids.begin() + std::ptrdiff_t(wanted), ids.end(), better);
    ids.resize(wanted);
    return ids;
}

}  // namespace engine
