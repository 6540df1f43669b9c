// A run to take along.
#pragma once

#include "app/experiments/experiment.h"

#include <QByteArray>
#include <QUrl>

#include <optional>

namespace ExperimentExports {

/// Comma-separated values with a head line, numbers without grouping and units in their names; of the earlier run the
/// speed of each row. A row without numbers has its sentence.
QByteArray csv(const ExperimentRun& run, const std::optional<ExperimentRun>& earlier = {});

/// Of a file that was chosen: Qt 6.4's own dialog gives a name that was typed without "file:".
QString pathOf(const QUrl& file);
/// Writes what is whole or nothing. Empty: it was written; else one sentence.
QString write(const QString& file, const QByteArray& content);

}  // namespace ExperimentExports
