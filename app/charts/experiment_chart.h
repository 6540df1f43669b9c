// ExperimentChart draws one quantity of an experiment over the context.
#pragma once

#include "app/charts/chart_item.h"
#include "app/charts/experiment_plot.h"

#include <utility>

/// One quantity over the context, a curve for each strategy; an earlier run's are dashed. Lives on the UI thread.
class ExperimentChart : public ChartItem
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(ExperimentRowModel* rows READ rows WRITE setRows NOTIFY rowsChanged)
    Q_PROPERTY(Quantity quantity MEMBER m_quantity NOTIFY looksChanged)
    Q_PROPERTY(int model MEMBER m_model NOTIFY looksChanged)
    Q_PROPERTY(QList<QColor> colors MEMBER m_colors NOTIFY looksChanged)
    Q_PROPERTY(QString title MEMBER m_title NOTIFY looksChanged)

public:
    enum Quantity {
        Speed = ExperimentPlot::Speed,
        SpeedRatio = ExperimentPlot::SpeedRatio,
        P99 = ExperimentPlot::P99,
        DeviceMemory = ExperimentPlot::DeviceMemory,
        HostMemory = ExperimentPlot::HostMemory,
        DeviceMemoryPerSpeed = ExperimentPlot::DeviceMemoryPerSpeed,
        HostMemoryPerSpeed = ExperimentPlot::HostMemoryPerSpeed,
    };
    Q_ENUM(Quantity)

    using ChartItem::ChartItem;

    ExperimentRowModel* rows() const { return m_rows; }
    void setRows(ExperimentRowModel* rows);

    QString title() const { return m_title; }
    /// Returns the name and colour of each kind of curve; the one without a colour is the earlier run's.
    QList<std::pair<QString, QColor>> legend() const;

    /// Returns what was measured at the context nearest to x: a list of { contextTokens, strategy, name, value,
    /// earlier }, one for each curve that has a value there.
    Q_INVOKABLE QVariantList at(double x) const;

Q_SIGNALS:
    void rowsChanged();

protected:
    void fill(QCustomPlot& plot) override;
    QList<double> ticksX(double from, double to) const override;

private:
    ExperimentRowModel* m_rows = nullptr;
    Quantity m_quantity = Speed;
    int m_model = 0;
    QList<QColor> m_colors;
    QString m_title;
};
