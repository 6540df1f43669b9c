// ExperimentJson writes and reads a run as a file, and reads what the measuring process prints.
#pragma once

#include "app/experiments/experiment.h"

#include <QByteArray>

#include <optional>

namespace ExperimentJson {

inline constexpr qsizetype kMostBytes = 4 * 1024 * 1024;

/// {"format": "spillway-experiment", "version": 1, ...}; bytes and milliseconds are in the names.
QByteArray write(const ExperimentRun& run);
/// Empty: it is no run, or one that nothing here has written. The id is its file's business.
std::optional<ExperimentRun> read(const QByteArray& json);

/// Takes the numbers of `spillway-cli bench --json` into a row. False: they are not what a row is made of.
bool takeBench(const QByteArray& json, ExperimentRow& row);

}  // namespace ExperimentJson
