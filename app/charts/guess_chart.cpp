#include "app/charts/guess_chart.h"

#include "app/charts/custom_plot.h"
#include "app/pressure/speed_without_drafts.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace {

constexpr int kFewestGuessTokens = 512;  // on the x axis
constexpr double kTopOfPercent = 105;    // a dot at 100 is seen whole
constexpr double kEarlierGuessAlpha = 0.35;
constexpr int kStepsForGain = 8;  // without drafts: fewer would not tell how fast they are

double percentOf(const PressureHistory::GuessPoint& point)
{
    return point.drafted > 0 ? 100.0 * point.accepted / point.drafted : 0;
}

GuessSum sumOf(const std::optional<engine::DraftModelTelemetry>& guessed)
{
    GuessSum sum;
    if (guessed) {
        sum.drafted = guessed->drafted_tokens;
        sum.accepted = guessed->accepted_tokens;
        sum.bytes = double(guessed->used_bytes());
    }
    return sum;
}

}  // namespace

void GuessChart::onMeasured()
{
    int drafted = 0, accepted = 0;
    GuessSum byModel, byBlock;
    QVariant gain;
    if (monitor()) {
        const PressureHistory& history = monitor()->history();
        for (std::size_t i = history.runs().size(); i-- > history.firstRun() && drafted == 0;)
            for (const PressureHistory::GuessPoint& point : history.runs()[i].guesses) {
                drafted += point.drafted;
                accepted += point.accepted;
            }
        const engine::Telemetry& frame = monitor()->frame();
        const bool ofNow = !monitor()->replaying() && !monitor()->earlier() && !monitor()->ofAnother();
        const auto without = speedWithoutDrafts(frame, kStepsForGain);
        if (ofNow && frame.drafted_tokens > 0 && frame.decode_tokens_per_s && without && *without > 0)
            gain = *frame.decode_tokens_per_s / *without;
        if (ofNow) {
            byModel = sumOf(frame.draft_model);
            byBlock = sumOf(frame.mtp);
        }
    }
    const auto sums = std::tie(drafted, accepted, byModel, byBlock, gain);
    const auto known = std::tie(m_drafted, m_accepted, m_byModel, m_byBlock, m_gain);
    if (sums != known) {
        std::tie(m_drafted, m_accepted, m_byModel, m_byBlock, m_gain) = sums;
        Q_EMIT sumsChanged();
    }
    ChartItem::onMeasured();
}

void GuessChart::fill(QCustomPlot& plot)
{
    if (!monitor())
        return;
    double right = kFewestGuessTokens;
    const auto& runs = monitor()->history().runs();
    for (std::size_t i = monitor()->history().firstRun(); i < runs.size(); ++i) {
        const bool newest = isNewest(runs[i]);
        if (runs[i].guesses.empty() || !shows(newest ? "guessed" : "earlier"))
            continue;
        QVector<QCPGraphData> data;
        for (const PressureHistory::GuessPoint& point : runs[i].guesses) {
            data.append(QCPGraphData(point.contextTokens, percentOf(point)));
            right = std::max(right, double(point.contextTokens));
        }
        QColor color = m_guessedColor;
        color.setAlphaF(float(newest ? 1 : kEarlierGuessAlpha));
        QCPGraph* const graph = plot.addGraph();
        graph->data()->set(data, true);
        graph->setPen(QPen(color, newest ? 1.4 : 1));
        graph->setScatterStyle(QCPScatterStyle(QCPScatterStyle::ssDisc, newest ? 5 : 4));
    }
    plot.xAxis->setRange(0, right);
    plot.yAxis->setRange(0, kTopOfPercent);
    setEmpty(plot.plottableCount() == 0);
}

GuessChart::Near GuessChart::nearest(double x) const
{
    if (!monitor())
        return {};
    return nearestPoint(monitor()->history(), &PressureHistory::Run::guesses, x,
                        [&](const PressureHistory::Run& run) { return shows(isNewest(run) ? "guessed" : "earlier"); });
}

std::optional<QPointF> GuessChart::pointNear(double x) const
{
    const Near near = nearest(x);
    return near.point ? std::optional(QPointF(near.point->contextTokens, percentOf(*near.point))) : std::nullopt;
}

QVariantMap GuessChart::at(double x) const
{
    const Near near = nearest(x);
    if (!near.point)
        return {};
    return {{QStringLiteral("contextTokens"), near.point->contextTokens},
            {QStringLiteral("drafted"), near.point->drafted},
            {QStringLiteral("accepted"), near.point->accepted},
            {QStringLiteral("earlier"), !isNewest(*near.run)}};
}

#include "moc_guess_chart.cpp"
