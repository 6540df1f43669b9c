#include "app/charts/speed_chart.h"

#include "app/charts/custom_plot.h"

#include <QSet>

#include <algorithm>
#include <array>
#include <cmath>

namespace {

constexpr double kSpeedHeadroom = 1.1;
constexpr double kAhead = 1.25;     // the x axis is this many times as long as the present context
constexpr int kFewestTokens = 512;  // on the x axis
constexpr double kMarkHeight = 0.05;
constexpr double kEarlierAlpha = 0.35;

QColor faint(QColor color)
{
    color.setAlphaF(float(kEarlierAlpha));
    return color;
}

}  // namespace

void SpeedChart::setPlacement(PlacementController* placement)
{
    if (placement == m_placement)
        return;
    if (m_placement) {
        m_placement->disconnect(this);
        m_placement->forecast()->disconnect(this);
    }
    m_placement = placement;
    if (m_placement) {
        connect(m_placement->forecast(), &PlacementForecast::changed, this, [this] { redrawSoon(); });
        connect(m_placement, &QObject::destroyed, this, [this] { m_placement = nullptr; });
    }
    Q_EMIT placementChanged();
    redrawSoon();
}

void SpeedChart::fill(QCustomPlot& plot)
{
    if (!monitor())
        return;
    double right = std::max(double(kFewestTokens), kAhead * monitor()->contextTokens());
    const auto& runs = monitor()->history().runs();
    for (std::size_t i = monitor()->history().firstRun(); i < runs.size(); ++i)
        for (const PressureHistory::SpeedPoint& point : runs[i].points)
            right = std::max(right, double(point.contextTokens));
    if (monitor()->contextLimit() > 0)
        right = m_wholeContext ? monitor()->contextLimit() : std::min(right, double(monitor()->contextLimit()));
    plot.xAxis->setRange(0, right);
    const double highest = kSpeedHeadroom * std::max({drawPredicted(plot), drawRuns(plot), 1.0});
    plot.yAxis->setRange(0, highest);
    setEmpty(plot.plottableCount() == 0);
    drawSpill(plot);
    drawMarks(plot, highest);
}

/// Draws the curves of the answers. Returns the highest speed in tokens per second.
double SpeedChart::drawRuns(QCustomPlot& plot) const
{
    double highest = 0;
    const auto& runs = monitor()->history().runs();
    for (std::size_t i = monitor()->history().firstRun(); i < runs.size(); ++i) {
        const PressureHistory::Run& run = runs[i];
        const bool newest = isNewest(run);
        if (run.points.empty() || !shows(newest ? "measured" : "earlier"))
            continue;
        QCPGraph* const graph = plot.addGraph();
        QVector<QCPGraphData> data;
        data.reserve(qsizetype(run.points.size()));
        for (const PressureHistory::SpeedPoint& point : run.points) {
            data.append(QCPGraphData(point.contextTokens, point.tokensPerSecond));
            highest = std::max(highest, point.tokensPerSecond);
        }
        graph->data()->set(data, true);
        graph->setPen(QPen(newest ? m_measuredColor : faint(m_measuredColor), newest ? 1.8 : 1.2));
        if (data.size() == 1)
            graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, 5));
    }
    return highest;
}

double SpeedChart::drawPredicted(QCustomPlot& plot) const
{
    if (!foretells() || m_placement->forecast()->predicted().isEmpty() || !shows("predicted"))
        return 0;
    QCPGraph* const graph = plot.addGraph();
    double highest = 0;
    for (const QPointF& point : m_placement->forecast()->predicted()) {
        graph->addData(point.x(), point.y());
        if (point.x() <= plot.xAxis->range().upper)
            highest = std::max(highest, point.y());
    }
    graph->setPen(QPen(m_predictedColor, 1.4, Qt::DashLine));
    return highest;
}

/// Says whether a forecast is drawn: it is of the open model, not of a recording or of what another model did.
bool SpeedChart::foretells() const
{
    return m_placement && monitor() && monitor()->hasModel() && !monitor()->replaying();
}

void SpeedChart::drawSpill(QCustomPlot& plot) const
{
    const QVariant spill = foretells() ? m_placement->forecast()->spillTokens() : monitor()->recordedSpill();
    if (!spill.isValid())
        return;
    auto* const line = new QCPItemStraightLine(&plot);  // the plot owns it
    const double tokens = spill.toDouble();
    line->point1->setCoords(tokens, 0);
    line->point2->setCoords(tokens, 1);
    line->setPen(QPen(m_spillColor, 1.2, Qt::DashDotLine));
}

void SpeedChart::drawMarks(QCustomPlot& plot, double highest)
{
    using Kind = engine::Event::Kind;
    constexpr std::array kSeries = {"offloads", "fetches", "layers"};
    std::array<bool, kSeries.size()> there = {};
    QSet<std::pair<int, int>> drawn;  // many at one place are one tick
    const Ring<PressureHistory::Mark>& marks = monitor()->history().marks();
    for (qsizetype i = 0; i < marks.size(); ++i) {
        const PressureHistory::Mark& mark = marks[i];
        if (mark.seconds < monitor()->history().modelSince())
            continue;
        const std::pair<int, int> place(mark.contextTokens, int(mark.kind));
        if (drawn.contains(place))
            continue;
        drawn.insert(place);
        const int row = mark.kind == Kind::Offload ? 0 : mark.kind == Kind::Fetch ? 1 : 2;
        there[std::size_t(row)] = true;
        if (!shows(kSeries[std::size_t(row)]))
            continue;
        auto* const tick = new QCPItemLine(&plot);
        tick->start->setCoords(mark.contextTokens, highest * kMarkHeight * row);
        tick->end->setCoords(mark.contextTokens, highest * kMarkHeight * (row + 0.8));
        const QColor color = row == 0 ? m_offloadColor : row == 1 ? m_fetchColor : m_moveColor;
        tick->setPen(QPen(color, 2));
    }
    QStringList series;
    for (std::size_t row = 0; row < kSeries.size(); ++row)
        if (there[row])
            series.append(QLatin1String(kSeries[row]));
    if (series == m_marks)
        return;
    m_marks = series;
    Q_EMIT marksChanged();
}

SpeedChart::Near SpeedChart::nearest(double x) const
{
    if (!monitor())
        return {};
    return nearestPoint(monitor()->history(), &PressureHistory::Run::points, x,
                        [&](const PressureHistory::Run& run) { return shows(isNewest(run) ? "measured" : "earlier"); });
}

std::optional<QPointF> SpeedChart::pointNear(double x) const
{
    const Near near = nearest(x);
    return near.point ? std::optional(QPointF(near.point->contextTokens, near.point->tokensPerSecond)) : std::nullopt;
}

std::optional<double> SpeedChart::predictedAt(double tokens) const
{
    if (!foretells() || m_placement->forecast()->predicted().isEmpty() || !shows("predicted"))
        return {};
    const QList<QPointF>& curve = m_placement->forecast()->predicted();
    const auto after = std::find_if(curve.begin(), curve.end(), [&](const QPointF& p) { return p.x() >= tokens; });
    if (after == curve.end())
        return {};
    const QPointF before = after == curve.begin() ? *after : *(after - 1);
    const double share = after->x() > before.x() ? (tokens - before.x()) / (after->x() - before.x()) : 0;
    return before.y() + share * (after->y() - before.y());
}

QVariantMap SpeedChart::at(double x) const
{
    QVariantMap found;
    const Near near = nearest(x);
    const double tokens = near.point ? near.point->contextTokens : x;
    const auto predicted = predictedAt(tokens);
    if (!near.point && !predicted)
        return found;
    found[QStringLiteral("contextTokens")] = qRound(tokens);
    if (near.point) {
        found[QStringLiteral("measured")] = near.point->tokensPerSecond;
        found[QStringLiteral("earlier")] = !isNewest(*near.run);
    }
    if (predicted)
        found[QStringLiteral("predicted")] = *predicted;
    return found;
}

#include "moc_speed_chart.cpp"
