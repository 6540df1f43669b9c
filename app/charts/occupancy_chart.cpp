#include "app/charts/occupancy_chart.h"

#include "app/charts/custom_plot.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace {

constexpr double kGrabPixels = 6;  // how near a line has to be
constexpr double kOccupancyHeadroom = 1.02;
constexpr double kLeastSeconds = 10, kLeastTokens = 256;  // on the x axis

struct Area {
    const char* series;
    double MemoryReading::*bytes;
};
constexpr std::array kAreas = {Area{"weights", &MemoryReading::weights}, Area{"experts", &MemoryReading::experts},
                               Area{"kv", &MemoryReading::kv},           Area{"state", &MemoryReading::state},
                               Area{"scratch", &MemoryReading::scratch}, Area{"others", &MemoryReading::others}};

}  // namespace

QVariant OccupancyChart::draggedBytes() const
{
    return m_line == Line::None ? QVariant() : QVariant(m_dragged);
}

QVariant OccupancyChart::draggedBudget() const
{
    return m_line == Line::Budget ? draggedBytes() : QVariant();
}

const MemoryReading& OccupancyChart::reading(const PressureHistory::Sample& sample) const
{
    return m_memory == Device ? sample.device : sample.host;
}

/// Also takes the zoom back: a range of tokens means nothing in seconds.
void OccupancyChart::setAxis(Axis axis)
{
    if (m_axis == axis)
        return;
    m_axis = axis;
    resetZoom();
    Q_EMIT looksChanged();
}

double OccupancyChart::place(const PressureHistory::Sample& sample) const
{
    return m_axis == Time ? sample.seconds : sample.contextTokens;
}

std::vector<qsizetype> OccupancyChart::drawn() const
{
    const PressureHistory& history = monitor()->history();
    if (m_axis == Tokens)
        return history.samplesOverTokens();
    std::vector<qsizetype> all;
    for (qsizetype i = 0; i < history.samples().size(); ++i)
        if (history.samples()[i].seconds >= history.modelSince())
            all.push_back(i);
    return all;
}

void OccupancyChart::fill(QCustomPlot& plot)
{
    if (!monitor())
        return;
    const Ring<PressureHistory::Sample>& samples = monitor()->history().samples();
    const std::vector<qsizetype> places = drawn();
    const auto count = qsizetype(places.size());
    QVector<double> x(count), top(count, 0.0);
    for (qsizetype i = 0; i < count; ++i)
        x[i] = place(samples[places[std::size_t(i)]]);

    QCPGraph* below = nullptr;
    for (std::size_t i = 0; i < kAreas.size(); ++i) {
        const auto has = [&](qsizetype at) { return reading(samples[at]).*kAreas[i].bytes > 0; };
        if (!shows(kAreas[i].series) || std::ranges::none_of(places, has))
            continue;
        for (qsizetype at = 0; at < count; ++at)
            top[at] += reading(samples[places[std::size_t(at)]]).*kAreas[i].bytes;
        QCPGraph* const graph = plot.addGraph();
        graph->setData(x, top, true);
        const QColor color = m_colors.value(qsizetype(i), mutedInk());
        graph->setPen(QPen(color, 1));
        graph->setBrush(color);
        if (below)
            graph->setChannelFillGraph(below);
        below = graph;
    }

    const MemoryReading now = m_memory == Device ? monitor()->device() : monitor()->host();
    if (m_axis == Time)
        drawEarlier(plot);
    const double begin = m_axis == Time && count > 0 ? x.first() : 0;
    const double least = m_axis == Time ? kLeastSeconds : kLeastTokens;
    plot.xAxis->setRange(begin, std::max(count > 0 ? x.last() : 0, begin + least));
    const double highest = count > 0 ? *std::max_element(top.begin(), top.end()) : 0;
    plot.yAxis->setRange(0, std::max({now.total, highest * kOccupancyHeadroom, 1.0}));
    setEmpty(now.total <= 0 && highest <= 0);
    if (now.budget > 0)
        drawLevels(plot, places);
}

/// Draws a line where what was measured earlier ends and what was measured in this run begins.
void OccupancyChart::drawEarlier(QCustomPlot& plot) const
{
    const std::optional<double>& seconds = monitor()->history().earlierSeconds();
    if (!seconds)
        return;
    auto* const line = new QCPItemStraightLine(&plot);  // the plot owns it
    line->point1->setCoords(*seconds, 0);
    line->point2->setCoords(*seconds, 1);
    line->setPen(QPen(mutedInk(), 1, Qt::DotLine));
}

void OccupancyChart::drawLevels(QCustomPlot& plot, const std::vector<qsizetype>& places) const
{
    drawLevel(plot, places, {Line::Budget, &MemoryReading::budget, m_budgetColor, Qt::SolidLine});
    drawLevel(plot, places, {Line::Watermark, &MemoryReading::watermark, m_watermarkColor, Qt::DashLine});
}

/// Draws a level as high as it was at each time, and as it is now from there on; one that is dragged is drawn where it
/// would be.
void OccupancyChart::drawLevel(QCustomPlot& plot, const std::vector<qsizetype>& places, const Level& level) const
{
    const MemoryReading now = m_memory == Device ? monitor()->device() : monitor()->host();
    const bool dragged = m_line == level.line;
    const QCPRange seen = plot.xAxis->range();
    QVector<double> x, y;
    for (const qsizetype i : places) {
        const PressureHistory::Sample& sample = monitor()->history().samples()[i];
        if (dragged || reading(sample).budget <= 0)
            continue;
        x.append(place(sample));
        y.append(reading(sample).*level.bytes);
    }
    const double height = dragged ? m_dragged : now.*level.bytes;
    if (x.isEmpty()) {
        x.append(seen.lower);
        y.append(height);
    }
    x.append(std::max(x.last(), seen.upper));
    y.append(height);
    // From the last sample on, the line is as high as the level is now.
    if (x.size() > 1)
        y[x.size() - 2] = height;
    QCPGraph* const graph = plot.addGraph();
    graph->setLineStyle(QCPGraph::lsStepLeft);
    graph->setData(x, y, true);
    graph->setAntialiased(false);
    graph->setPen(QPen(level.color, 2, level.style));
}

QVariantMap OccupancyChart::at(double x) const
{
    if (!monitor())
        return {};
    const Ring<PressureHistory::Sample>& samples = monitor()->history().samples();
    const std::vector<qsizetype> places = drawn();
    // Finds the newest sample that is not beyond x.
    const auto found =
        std::find_if(places.rbegin(), places.rend(), [&](qsizetype i) { return place(samples[i]) <= x; });
    if (found == places.rend())
        return {};
    const PressureHistory::Sample& sample = samples[*found];
    const MemoryReading& bytes = reading(sample);
    return {{QStringLiteral("x"), place(sample)},       {QStringLiteral("weights"), bytes.weights},
            {QStringLiteral("experts"), bytes.experts}, {QStringLiteral("kv"), bytes.kv},
            {QStringLiteral("state"), bytes.state},     {QStringLiteral("scratch"), bytes.scratch},
            {QStringLiteral("others"), bytes.others},   {QStringLiteral("free"), bytes.free}};
}

bool OccupancyChart::dragBegins(double, double y)
{
    if (!m_draggable || !monitor() || m_memory != Device)
        return false;
    const MemoryReading now = monitor()->device();
    const auto distance = [&](double bytes) { return std::abs(yPixel(bytes) - yPixel(y)); };
    if (now.budget <= 0 || std::min(distance(now.budget), distance(now.watermark)) > kGrabPixels)
        return false;
    m_line = distance(now.watermark) <= distance(now.budget) ? Line::Watermark : Line::Budget;
    m_dragged = m_line == Line::Budget ? now.budget : now.watermark;
    Q_EMIT draggedBytesChanged();
    return true;
}

void OccupancyChart::dragGoesOn(double, double y)
{
    const MemoryReading now = monitor() ? monitor()->device() : MemoryReading();
    m_dragged = std::clamp(y, 0.0, m_line == Line::Watermark ? now.budget : now.total);
    Q_EMIT draggedBytesChanged();
}

void OccupancyChart::dragEnds(bool chosen)
{
    const Line line = std::exchange(m_line, Line::None);
    Q_EMIT draggedBytesChanged();
    if (!chosen)
        return;
    if (line == Line::Budget)
        Q_EMIT budgetChosen(m_dragged);
    else if (line == Line::Watermark)
        Q_EMIT watermarkChosen(m_dragged);
}

#include "moc_occupancy_chart.cpp"
