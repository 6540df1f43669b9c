// ExperimentExports writes a run as comma-separated values.
#pragma once

#include "app/experiments/experiment.h"

#include <QByteArray>

#include <optional>

namespace ExperimentExports {

/// Returns comma-separated values with a head line whose names have the units; numbers are not grouped. Ratios are to
/// the speed of `base`. Each row also has the speed of the same cell in the earlier run. A row without numbers has a
/// sentence.
QByteArray csv(const ExperimentRun& run, Strategy::Name base, const std::optional<ExperimentRun>& earlier = {});

/// Writes the whole file or nothing. Returns one sentence where it could not; empty: it was written.
QString write(const QString& file, const QByteArray& content);

}  // namespace ExperimentExports
