#include "app/charts/experiment_chart.h"

#include "app/charts/custom_plot.h"

#include <algorithm>
#include <cmath>

namespace {

constexpr int kMostTicks = 10;  // numbers beside each other

}  // namespace

void ExperimentChart::setRows(ExperimentRowModel* rows)
{
    if (rows == m_rows)
        return;
    if (m_rows)
        m_rows->disconnect(this);
    m_rows = rows;
    if (m_rows) {
        connect(m_rows, &ExperimentRowModel::rowsChanged, this, [this] { redrawSoon(); });
        connect(m_rows, &ExperimentRowModel::modelReset, this, &ChartItem::resetZoom);
        connect(m_rows, &QObject::destroyed, this, [this] { m_rows = nullptr; });
    }
    Q_EMIT rowsChanged();
    redrawSoon();
}

void ExperimentChart::fill(QCustomPlot& plot)
{
    if (m_rows)
        setEmpty(ExperimentPlot::draw(plot, *m_rows, m_model, ExperimentPlot::Quantity(m_quantity), m_colors,
                                      hidden()) <= 0);
}

/// Returns the contexts that were measured; of those that stand close together only the first.
QList<double> ExperimentChart::ticksX(double from, double to) const
{
    QList<double> ticks;
    for (const int tokens : m_rows ? ExperimentPlot::contexts(*m_rows, hidden()) : QList<int>()) {
        const double place = std::log2(tokens);
        const bool clear = ticks.isEmpty() || place - ticks.last() >= (to - from) / kMostTicks;
        if (place >= from && place <= to && clear)
            ticks.append(place);
    }
    return ticks;
}

QList<std::pair<QString, QColor>> ExperimentChart::legend() const
{
    QList<std::pair<QString, QColor>> entries;
    if (!m_rows)
        return entries;
    for (const int strategy : m_rows->chartedStrategies())
        if (!hidden().contains(QString::number(strategy)))
            entries.append({strategyName(Strategy::Name(strategy)), m_colors.value(strategy, Qt::gray)});
    if (m_rows->earlier() && !hidden().contains(QLatin1String("earlier")))
        entries.append({tr("dashed: %1").arg(m_rows->earlier()->name), QColor()});
    return entries;
}

QVariantList ExperimentChart::at(double x) const
{
    if (!m_rows || m_rows->run().plan.contexts.isEmpty())
        return {};
    const QList<int> contexts = ExperimentPlot::contexts(*m_rows, hidden());
    const int context =
        *std::ranges::min_element(contexts, {}, [x](int tokens) { return std::abs(std::log2(tokens) - x); });
    const auto valueIn = [&](const ExperimentRun& run, const QList<ExperimentRow>& series) -> std::optional<double> {
        for (const ExperimentRow& row : series)
            if (row.cell.contextTokens == context)
                return ExperimentPlot::valueOf(run, row, ExperimentPlot::Quantity(m_quantity),
                                               Strategy::Name(m_rows->base()));
        return {};
    };
    QVariantList found;
    for (int i = 0; i < kStrategies; ++i) {
        const auto strategy = Strategy::Name(i);
        const auto value = valueIn(m_rows->run(), m_rows->series(m_model, strategy));
        const auto earlier =
            m_rows->earlier() ? valueIn(*m_rows->earlier(), m_rows->earlierSeries(m_model, strategy)) : std::nullopt;
        if ((!value && !earlier) || hidden().contains(QString::number(i)))
            continue;
        QVariantMap line{{QStringLiteral("contextTokens"), context},
                         {QStringLiteral("strategy"), i},
                         {QStringLiteral("name"), strategyName(strategy)}};
        if (value)
            line[QStringLiteral("value")] = *value;
        if (earlier)
            line[QStringLiteral("earlier")] = *earlier;
        found.append(line);
    }
    return found;
}

#include "moc_experiment_chart.cpp"
