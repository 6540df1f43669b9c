// The flight recorder: telemetry as a file, to look at later or to give to somebody else.
#pragma once

#include "app/monitor/pressure_history.h"

#include <QByteArray>
#include <QDateTime>
#include <QString>

#include <optional>

/// What a conversation was measured to do, with what is needed to read it: the history and the newest frame's numbers.
/// A plain value. As JSON: {"format": "spillway-recording", "version": 1, ...}; samples, runs and marks are arrays of
/// numbers, in the order of the fields below.
struct Recording {
    QString model;
    QString device;  // empty: none
    QDateTime made;
    int contextLimit = 0;
    PressureHistory history;

    QByteArray toJson() const;
    /// Empty: it is no recording; a file from elsewhere is taken within the history's own bounds.
    static std::optional<Recording> parse(const QByteArray& json);

    static constexpr qsizetype kMostBytes = 32 * 1024 * 1024;
};
