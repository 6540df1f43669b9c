// HitRateChart draws how many of the experts that were read had a copy on the device.
#pragma once

#include "app/charts/chart_item.h"
#include "app/charts/nearest_point.h"

/// Draws how many per cent of the experts in RAM that steps read had a copy on the device, over the length of the
/// context, of one model: points of the newest answer and, fainter, of those before it. Series: measured, earlier.
class HitRateChart : public ChartItem
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QColor hitColor MEMBER m_hitColor NOTIFY looksChanged)
    Q_PROPERTY(bool measured READ measured NOTIFY measuredChanged)

public:
    using ChartItem::ChartItem;

    bool measured() const { return m_measured; }  // there is a point

    /// Returns what was measured at the point nearest to x: contextTokens, share, hits and misses since the point
    /// before, whether it is `earlier`; empty where there is none.
    Q_INVOKABLE QVariantMap at(double x) const;
    /// Returns the newest point, as at() does; empty where there is none.
    Q_INVOKABLE QVariantMap newest() const;

Q_SIGNALS:
    void measuredChanged();

protected:
    void onMeasured() override;
    void fill(QCustomPlot& plot) override;
    std::optional<QPointF> pointNear(double x) const override;

private:
    using Near = NearPoint<PressureHistory::ExpertPoint>;
    Near nearest(double x) const;
    QVariantMap asMap(const Near& near) const;
    bool isNewest(const PressureHistory::Run& run) const { return ::isNewest(monitor()->history(), run); }

    QColor m_hitColor;
    bool m_measured = false;
};
