// SpeedChart draws the model's speed over the length of the context.
#pragma once

#include "app/charts/chart_item.h"
#include "app/charts/nearest_point.h"
#include "app/pressure/placement_controller.h"

/// Tokens per second over context length, of one model: the measured points of the newest answer and, fainter, of those
/// before it; the planner's curve behind them; the spill point as a line; a tick at the bottom wherever something
/// moved. Series: measured, earlier, predicted; of the ticks offloads, fetches, layers.
class SpeedChart : public ChartItem
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(PlacementController* placement READ placement WRITE setPlacement NOTIFY placementChanged)
    Q_PROPERTY(QColor measuredColor MEMBER m_measuredColor NOTIFY looksChanged)
    Q_PROPERTY(QColor predictedColor MEMBER m_predictedColor NOTIFY looksChanged)
    Q_PROPERTY(QColor spillColor MEMBER m_spillColor NOTIFY looksChanged)
    Q_PROPERTY(QColor offloadColor MEMBER m_offloadColor NOTIFY looksChanged)
    Q_PROPERTY(QColor fetchColor MEMBER m_fetchColor NOTIFY looksChanged)
    Q_PROPERTY(QColor moveColor MEMBER m_moveColor NOTIFY looksChanged)
    Q_PROPERTY(bool wholeContext MEMBER m_wholeContext NOTIFY looksChanged)
    Q_PROPERTY(QStringList marks READ marks NOTIFY marksChanged)

public:
    using ChartItem::ChartItem;

    PlacementController* placement() const { return m_placement; }
    void setPlacement(PlacementController* placement);

    QStringList marks() const { return m_marks; }  // the series of ticks that there are, hidden ones too

    /// Returns what is drawn at the nearest measured point of any series that is shown, else at x: contextTokens,
    /// measured and whether it is `earlier`, predicted, in tokens/s; absent where there is none.
    Q_INVOKABLE QVariantMap at(double x) const;

Q_SIGNALS:
    void placementChanged();
    void marksChanged();

protected:
    void fill(QCustomPlot& plot) override;
    std::optional<QPointF> pointNear(double x) const override;

private:
    using Near = NearPoint<PressureHistory::SpeedPoint>;
    Near nearest(double x) const;
    bool isNewest(const PressureHistory::Run& run) const { return ::isNewest(monitor()->history(), run); }
    std::optional<double> predictedAt(double tokens) const;
    bool foretells() const;
    double drawRuns(QCustomPlot& plot) const;
    double drawPredicted(QCustomPlot& plot) const;
    void drawSpill(QCustomPlot& plot) const;
    void drawMarks(QCustomPlot& plot, double highest);

    PlacementController* m_placement = nullptr;
    QColor m_measuredColor, m_predictedColor, m_spillColor, m_offloadColor, m_fetchColor, m_moveColor;
    QStringList m_marks;
    bool m_wholeContext = false;  // else as far as there are points, and a little more
};
