// OccupancyChart draws what a memory holds, over time or over the conversation.
#pragma once

#include "app/charts/chart_item.h"

#include <QList>

#include <vector>

/// Draws areas on top of each other: weights, copies of experts, KV, states of recurrent layers, scratch, other
/// programs; what is free is above them. The budget and the watermark are lines, each as high as it was at the time;
/// they can be dragged at their present height. Bytes over seconds or tokens, of one model.
class OccupancyChart : public ChartItem
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(Memory memory MEMBER m_memory NOTIFY looksChanged)
    Q_PROPERTY(Axis axis MEMBER m_axis WRITE setAxis NOTIFY looksChanged)
    Q_PROPERTY(QList<QColor> colors MEMBER m_colors NOTIFY looksChanged)
    Q_PROPERTY(QColor budgetColor MEMBER m_budgetColor NOTIFY looksChanged)
    Q_PROPERTY(QColor watermarkColor MEMBER m_watermarkColor NOTIFY looksChanged)
    Q_PROPERTY(bool draggable MEMBER m_draggable NOTIFY looksChanged)
    Q_PROPERTY(QVariant draggedBytes READ draggedBytes NOTIFY draggedBytesChanged)
    Q_PROPERTY(QVariant draggedBudget READ draggedBudget NOTIFY draggedBytesChanged)

public:
    enum Memory { Device, Host };
    Q_ENUM(Memory)
    enum Axis { Time, Tokens };
    Q_ENUM(Axis)

    using ChartItem::ChartItem;

    void setAxis(Axis axis);
    QVariant draggedBytes() const;   // where a line is being dragged to; undefined: none is
    QVariant draggedBudget() const;  // the same, where it is the budget's

    /// Returns what was measured at x: weights, experts, kv, state, scratch, others, free, in bytes; empty where
    /// nothing was.
    Q_INVOKABLE QVariantMap at(double x) const;

Q_SIGNALS:
    void draggedBytesChanged();
    // The user has let go of a line.
    void budgetChosen(double bytes);
    void watermarkChosen(double bytes);

protected:
    void fill(QCustomPlot& plot) override;
    bool dragBegins(double x, double y) override;
    void dragGoesOn(double x, double y) override;
    void dragEnds(bool chosen) override;

private:
    enum class Line { None, Budget, Watermark };
    const MemoryReading& reading(const PressureHistory::Sample& sample) const;
    double place(const PressureHistory::Sample& sample) const;
    std::vector<qsizetype> drawn() const;  // places in the history's samples
    void drawEarlier(QCustomPlot& plot) const;
    struct Level {
        Line line;
        double MemoryReading::*bytes;
        QColor color;
        Qt::PenStyle style;
    };
    void drawLevels(QCustomPlot& plot, const std::vector<qsizetype>& places) const;
    void drawLevel(QCustomPlot& plot, const std::vector<qsizetype>& places, const Level& level) const;

    Memory m_memory = Device;
    Axis m_axis = Tokens;
    QList<QColor> m_colors;  // of weights, experts, KV, states, scratch, others
    QColor m_budgetColor, m_watermarkColor;
    bool m_draggable = false;
    Line m_line = Line::None;
    double m_dragged = 0;
};
