// LatencyHistogram counts how many of a server's times stayed below each of several bounds.
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
        bool more = false;  // the value lies beyond the last finite bound, which is given
    };

    /// Adds a count to a bound's: each of several engines of one server sends a count for each bound.
    void add(double bound_s, double times);
    /// Adds the counts of another histogram with the same bounds.
    void add(const LatencyHistogram& other);

    bool empty() const { return below_.empty(); }
    double count() const { return below_.empty() ? 0 : below_.rbegin()->second; }
    /// Returns the counts of times that came after `before`. Empty: a count fell, or the bounds are others.
    std::optional<LatencyHistogram> since(const LatencyHistogram& before) const;
    /// Returns the time in seconds below which `share` (0 to 1) of the times stay, as if times lay evenly between two
    /// bounds. Empty: there are no times.
    std::optional<Quantile> quantile(double share) const;

private:
    std::map<double, double> below_;  // by bound
};

}  // namespace remote
