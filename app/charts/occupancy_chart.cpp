#include "app/charts/occupancy_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <qcustomplot.h>
#include <utility>

namespace {

constexpr double kGrabPixels = 6;  // how near a line has to be
constexpr double kHeadroom = 1.02;
constexpr double kLeastSeconds = 10, kLeastTokens = 256;  // on the x axis

struct Area {
    const char* series;
    double MemoryReading::*bytes;
};
constexpr std::array kAreas = {Area{"weights", &MemoryReading::weights}, Area{"kv", &MemoryReading::kv},
                               Area{"scratch", &MemoryReading::scratch}, Area{"others", &MemoryReading::others}};

}  // namespace

QVariant OccupancyChart::draggedBytes() const
{
    return m_line == Line::None ? QVariant() : QVariant(m_dragged);
}

const MemoryReading& OccupancyChart::reading(const PressureHistory::Sample& sample) const
{
    return m_memory == Device ? sample.device : sample.host;
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
    std::vector<qsizetype> all(std::size_t(history.samples().size()));
    std::iota(all.begin(), all.end(), 0);
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
        if (!shows(kAreas[i].series))
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
    if (now.budget > 0) {
        drawLevel(plot, m_line == Line::Budget ? m_dragged : now.budget, m_budgetColor, false);
        drawLevel(plot, m_line == Line::Watermark ? m_dragged : now.watermark, m_watermarkColor, true);
    }
    if (m_axis == Time)
        drawEarlier(plot);
    const double begin = m_axis == Time && count > 0 ? x.first() : 0;
    const double least = m_axis == Time ? kLeastSeconds : kLeastTokens;
    plot.xAxis->setRange(begin, std::max(count > 0 ? x.last() : 0, begin + least));
    const double highest = count > 0 ? *std::max_element(top.begin(), top.end()) : 0;
    plot.yAxis->setRange(0, std::max({now.total, highest * kHeadroom, 1.0}));
}

/// What lies before this line was not measured now.
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

void OccupancyChart::drawLevel(QCustomPlot& plot, double bytes, const QColor& color, bool dashed) const
{
    auto* const line = new QCPItemStraightLine(&plot);  // the plot owns it
    line->point1->setCoords(0, bytes);
    line->point2->setCoords(1, bytes);
    line->setAntialiased(false);
    line->setPen(QPen(color, 2, dashed ? Qt::DashLine : Qt::SolidLine));
}

QVariantMap OccupancyChart::at(double x) const
{
    if (!monitor())
        return {};
    const Ring<PressureHistory::Sample>& samples = monitor()->history().samples();
    const std::vector<qsizetype> places = drawn();
    // The newest one that is not beyond.
    const auto found =
        std::find_if(places.rbegin(), places.rend(), [&](qsizetype i) { return place(samples[i]) <= x; });
    if (found == places.rend())
        return {};
    const PressureHistory::Sample& sample = samples[*found];
    const MemoryReading& bytes = reading(sample);
    return {{QStringLiteral("x"), place(sample)},     {QStringLiteral("weights"), bytes.weights},
            {QStringLiteral("kv"), bytes.kv},         {QStringLiteral("scratch"), bytes.scratch},
            {QStringLiteral("others"), bytes.others}, {QStringLiteral("free"), bytes.free}};
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
