// ExperimentExports writes a run as comma-separated values.
#pragma once

#include "app/experiments/experiment.h"

#include <QByteArray>

#include <optional>

namespace ExperimentExports {

/// Comma-separated values with a head line, numbers without grouping and units in their names; ratios are to the speed
/// of `base`; of the earlier run the speed of each row. A row without numbers has its sentence.
QByteArray csv(const ExperimentRun& run, Strategy::Name base, const std::optional<ExperimentRun>& earlier = {});

/// Writes what is whole or nothing. Empty: it was written; else one sentence.
QString write(const QString& file, const QByteArray& content);

}  // namespace ExperimentExports
