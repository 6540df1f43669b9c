// ExperimentJson writes and reads a run as a file, and reads what the measuring process prints.
#pragma once

#include "app/experiments/experiment.h"

#include <QByteArray>

#include <optional>

namespace ExperimentJson {

inline constexpr qsizetype kMostBytes = 4 * 1024 * 1024;

/// Returns {"format": "spillway-experiment", "version": 1, ...}; the members' names have the units.
QByteArray write(const ExperimentRun& run);
/// Reads a run, without its id, which is the file's name. Nothing: it is no run, or cannot be one of this program's.
std::optional<ExperimentRun> read(const QByteArray& json);

/// Takes the numbers of `spillway-cli bench --json` into a row. False: they are not what a row is made of.
bool takeBench(const QByteArray& json, ExperimentRow& row);

}  // namespace ExperimentJson
