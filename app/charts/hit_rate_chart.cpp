#include "app/charts/hit_rate_chart.h"

#include "app/charts/custom_plot.h"

#include <algorithm>
#include <cmath>

namespace {

constexpr double kMostPercent = 100;
constexpr double kAheadOfHits = 1.25;  // the x axis is this many times as long as the present context
constexpr int kFewestHitTokens = 512;  // on the x axis
constexpr double kFaintHits = 0.35;    // those of earlier answers

}  // namespace

void HitRateChart::onMeasured()
{
    bool measured = false;
    if (monitor()) {
        const auto& runs = monitor()->history().runs();
        for (std::size_t i = monitor()->history().firstRun(); i < runs.size() && !measured; ++i)
            measured = !runs[i].experts.empty();
    }
    if (measured != m_measured) {
        m_measured = measured;
        Q_EMIT measuredChanged();
    }
    ChartItem::onMeasured();
}

void HitRateChart::fill(QCustomPlot& plot)
{
    plot.yAxis->setRange(0, kMostPercent);
    if (!monitor())
        return;
    double right = std::max(double(kFewestHitTokens), kAheadOfHits * monitor()->contextTokens());
    const auto& runs = monitor()->history().runs();
    for (std::size_t i = monitor()->history().firstRun(); i < runs.size(); ++i) {
        const PressureHistory::Run& run = runs[i];
        const bool newest = isNewest(run);
        if (run.experts.empty() || !shows(newest ? "measured" : "earlier"))
            continue;
        QCPGraph* const graph = plot.addGraph();
        QVector<QCPGraphData> data;
        data.reserve(qsizetype(run.experts.size()));
        for (const PressureHistory::ExpertPoint& point : run.experts) {
            data.append(QCPGraphData(point.contextTokens, kMostPercent * point.share()));
            right = std::max(right, double(point.contextTokens));
        }
        graph->data()->set(data, true);
        QColor color = m_hitColor;
        if (!newest)
            color.setAlphaF(float(kFaintHits));
        graph->setPen(QPen(color, newest ? 1.8 : 1.2));
        if (data.size() == 1)
            graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, 5));
    }
    if (monitor()->contextLimit() > 0)
        right = std::min(right, double(monitor()->contextLimit()));
    plot.xAxis->setRange(0, right);
}

HitRateChart::Near HitRateChart::nearest(double x) const
{
    if (!monitor())
        return {};
    return nearestPoint(monitor()->history(), &PressureHistory::Run::experts, x,
                        [&](const PressureHistory::Run& run) { return shows(isNewest(run) ? "measured" : "earlier"); });
}

std::optional<QPointF> HitRateChart::pointNear(double x) const
{
    const Near near = nearest(x);
    return near.point ? std::optional(QPointF(near.point->contextTokens, kMostPercent * near.point->share()))
                      : std::nullopt;
}

QVariantMap HitRateChart::asMap(const Near& near) const
{
    if (!near.point)
        return {};
    return {{QStringLiteral("contextTokens"), near.point->contextTokens},
            {QStringLiteral("share"), near.point->share()},
            {QStringLiteral("hits"), near.point->hits},
            {QStringLiteral("misses"), near.point->misses},
            {QStringLiteral("earlier"), !isNewest(*near.run)}};
}

QVariantMap HitRateChart::at(double x) const
{
    return asMap(nearest(x));
}

QVariantMap HitRateChart::newest() const
{
    if (!monitor())
        return {};
    const auto& runs = monitor()->history().runs();
    for (std::size_t i = runs.size(); i-- > monitor()->history().firstRun();)
        if (!runs[i].experts.empty())
            return asMap({&runs[i], &runs[i].experts.back()});
    return {};
}

#include "moc_hit_rate_chart.cpp"
