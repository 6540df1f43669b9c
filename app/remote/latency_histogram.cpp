#include "app/remote/latency_histogram.h"

#include <cmath>

namespace remote {

namespace {

constexpr std::size_t kMostBounds = 1000;

}  // namespace

void LatencyHistogram::add(double bound_s, double times)
{
    if (below_.size() < kMostBounds || below_.count(bound_s) > 0)
        below_[bound_s] += times;
}

void LatencyHistogram::add(const LatencyHistogram& other)
{
    for (const auto& [bound, times] : other.below_)
        add(bound, times);
}

std::optional<LatencyHistogram> LatencyHistogram::since(const LatencyHistogram& before) const
{
    if (before.below_.size() != below_.size())
        return {};
    LatencyHistogram rise;
    auto then = before.below_.begin();
    for (const auto& [bound, times] : below_) {
        if (then->first != bound || then->second > times)
            return {};
        rise.below_.emplace(bound, times - then->second);
        ++then;
    }
    return rise;
}

std::optional<LatencyHistogram::Quantile> LatencyHistogram::quantile(double share) const
{
    if (count() <= 0)
        return {};
    const double wanted = share * count();
    double low_bound = 0, low_times = 0;
    for (const auto& [bound, times] : below_) {
        if (times >= wanted && times > low_times) {
            if (std::isinf(bound))
                break;
            return Quantile{low_bound + (bound - low_bound) * (wanted - low_times) / (times - low_times), false};
        }
        if (!std::isinf(bound)) {
            low_bound = bound;
            low_times = times;
        }
    }
    return Quantile{low_bound, true};
}

}  // namespace remote
