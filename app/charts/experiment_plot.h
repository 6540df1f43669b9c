// ExperimentPlot puts the figures of an experiment into a plot as curves.
#pragma once

#include "app/experiments/experiment_row_model.h"

#include <QColor>
#include <QList>
#include <QStringList>

#include <optional>

class QCustomPlot;

namespace ExperimentPlot {

/// The quantity that a figure shows over the context.
enum Quantity { Speed, SpeedRatio, P99, DeviceMemory, HostMemory, DeviceMemoryPerSpeed, HostMemoryPerSpeed };
inline constexpr int kQuantities = HostMemoryPerSpeed + 1;

/// Returns the quantity in a row of the run; a ratio is that to the strategy `base`. Nothing: it was not measured, or
/// does not exist.
std::optional<double> valueOf(const ExperimentRun& run, const ExperimentRow& row, Quantity quantity,
                              Strategy::Name base);

/// Returns the contexts on the x axis, ascending: of the shown run, and of the earlier one unless that is hidden.
QList<int> contexts(const ExperimentRowModel& rows, const QStringList& hidden);

/// Draws one curve for each strategy of a model, and dashed ones for the earlier run, and sets the axes' ranges. The x
/// axis is the binary logarithm of the context. `hidden`: strategies by number, and "earlier". Returns the highest
/// value; 0: there is none to scale by.
double draw(QCustomPlot& plot, const ExperimentRowModel& rows, int model, Quantity quantity,
            const QList<QColor>& colors, const QStringList& hidden);

}  // namespace ExperimentPlot
