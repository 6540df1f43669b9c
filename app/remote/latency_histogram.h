// LatencyHistogram counts how many of a server's times stayed below which bound.
#pragma once

#include <map>
#include <optional>

namespace remote {

/// Counts times as Prometheus does: each count is of all times up to its bound, and the last bound is endless. One
/// thread.
class LatencyHistogram
{
public:
    struct Quantile {
        double seconds = 0;
        bool more = false;  // than that: it lies beyond the last bound that has an end
    };

    /// Adds a count. Several engines of one server have such a bound each: counts of one bound add up.
    void add(double bound_s, double times);
    /// Adds the counts of another one, of the same bounds.
    void add(const LatencyHistogram& other);

    bool empty() const { return below_.empty(); }
    double count() const { return below_.empty() ? 0 : below_.rbegin()->second; }
    /// The times that came after `before`. Empty: a count fell, or the bounds are others.
    std::optional<LatencyHistogram> since(const LatencyHistogram& before) const;
    /// Returns what `share` of the times stay below, as if times lay evenly between two bounds. Empty: there are none.
    std::optional<Quantile> quantile(double share) const;

private:
    std::map<double, double> below_;  // by bound
};

}  // namespace remote
