// nearestPoint() finds the measured point that the pointer is nearest to, among those of all runs that a chart shows.
#pragma once

#include "app/pressure/pressure_history.h"

#include <cmath>
#include <cstddef>
#include <vector>

/// A point and the run that it is of; null: there is none.
template <class Point>
struct NearPoint {
    const PressureHistory::Run* run = nullptr;
    const Point* point = nullptr;
};

/// Says whether the run is that of the answer which is measured now, or was measured last.
inline bool isNewest(const PressureHistory& history, const PressureHistory::Run& run)
{
    return &run == &history.runs().back() && !run.earlier;
}

/// Finds the point whose context length is nearest; of two that are equally near, the one that was measured later.
/// shown(run): whether the chart shows it.
template <class Point, class Shown>
NearPoint<Point> nearestPoint(const PressureHistory& history, std::vector<Point> PressureHistory::Run::*points,
                              double x, const Shown& shown)
{
    NearPoint<Point> found;
    for (std::size_t i = history.firstRun(); i < history.runs().size(); ++i) {
        const PressureHistory::Run& run = history.runs()[i];
        if (!shown(run))
            continue;
        for (const Point& point : run.*points)
            if (!found.point || std::abs(point.contextTokens - x) <= std::abs(found.point->contextTokens - x))
                found = {&run, &point};
    }
    return found;
}
