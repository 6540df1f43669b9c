#include "app/charts/experiment_plot.h"

#include "app/charts/custom_plot.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace {

constexpr double kFigureHeadroom = 1.1;
constexpr double kMarginOctaves = 0.25;
constexpr double kDotPixels = 7;

// The strategies' curves are told apart without colours, too.
constexpr std::array kShapes = {QCPScatterStyle::ssCircle,   QCPScatterStyle::ssSquare,
                                QCPScatterStyle::ssTriangle, QCPScatterStyle::ssDiamond,
                                QCPScatterStyle::ssPlus,     QCPScatterStyle::ssTriangleInverted};
static_assert(kShapes.size() == kStrategies);

}  // namespace

std::optional<double> ExperimentPlot::valueOf(const ExperimentRun& run, const ExperimentRow& row, Quantity quantity,
                                              Strategy::Name base)
{
    const auto perSpeed = [&](const std::optional<double>& bytes) {
        return bytes && row.tokensPerSecond ? std::optional(*bytes / *row.tokensPerSecond) : std::nullopt;
    };
    switch (quantity) {
    case Speed:
        return row.tokensPerSecond;
    case SpeedRatio:
        return run.ratio(row, base);
    case P99:
        return row.p99Ms;
    case DeviceMemory:
        return row.deviceBytes;
    case HostMemory:
        return row.hostBytes;
    case DeviceMemoryPerSpeed:
        return perSpeed(row.deviceBytes);
    case HostMemoryPerSpeed:
        return perSpeed(row.hostBytes);
    }
    return {};
}

QList<int> ExperimentPlot::contexts(const ExperimentRowModel& rows, const QStringList& hidden)
{
    QList<int> contexts = rows.run().plan.contexts;
    if (rows.earlier() && !hidden.contains(QLatin1String("earlier")))
        contexts += rows.earlier()->plan.contexts;
    std::ranges::sort(contexts);
    return contexts;
}

double ExperimentPlot::draw(QCustomPlot& plot, const ExperimentRowModel& rows, int model, Quantity quantity,
                            const QList<QColor>& colors, const QStringList& hidden)
{
    double highest = 0;
    const auto addCurve = [&](const QList<ExperimentRow>& series, int strategy, bool earlier) {
        const ExperimentRun& run = earlier ? *rows.earlier() : rows.run();
        QVector<QCPGraphData> data;
        for (const ExperimentRow& row : series)
            if (const auto value = valueOf(run, row, quantity, Strategy::Name(rows.base()))) {
                data.append(QCPGraphData(std::log2(row.cell.contextTokens), *value));
                highest = std::max(highest, *value);
            }
        if (data.isEmpty())
            return;
        const QColor color = colors.value(strategy, Qt::gray);
        QCPGraph* const graph = plot.addGraph();  // the plot owns it
        graph->setName(strategyName(Strategy::Name(strategy)));
        graph->data()->set(data, true);
        graph->setPen(QPen(color, earlier ? 1.2 : 1.8, earlier ? Qt::DashLine : Qt::SolidLine));
        graph->setScatterStyle(QCPScatterStyle(kShapes[std::size_t(strategy)], QPen(color, 1.4),
                                               earlier ? QBrush(Qt::NoBrush) : QBrush(color), kDotPixels));
    };
    for (int strategy = 0; strategy < kStrategies; ++strategy) {
        if (hidden.contains(QString::number(strategy)))
            continue;
        if (rows.earlier() && !hidden.contains(QLatin1String("earlier")))
            addCurve(rows.earlierSeries(model, Strategy::Name(strategy)), strategy, true);
        addCurve(rows.series(model, Strategy::Name(strategy)), strategy, false);
    }

    const QList<int> contexts = ExperimentPlot::contexts(rows, hidden);
    const double from = contexts.isEmpty() ? 9 : std::log2(contexts.first());
    const double to = contexts.isEmpty() ? 12 : std::log2(contexts.last());
    plot.xAxis->setRange(from - kMarginOctaves, to + kMarginOctaves);
    plot.yAxis->setRange(0, highest > 0 ? highest * kFigureHeadroom : 1);
    return highest;
}
