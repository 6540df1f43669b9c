// Recording holds what was measured of a conversation, to look at later or to give to somebody else.
#pragma once

#include "app/chat/placement_move.h"
#include "app/pressure/pressure_history.h"

#include <QByteArray>
#include <QDateTime>
#include <QList>
#include <QString>

#include <optional>

/// Holds a conversation's measurements: the history, what moved, and its answers' numbers, with the model and the
/// device they were made on. A plain value. As JSON: {"format": "spillway-recording", "version": 1, ...}; samples,
/// runs, experts, marks, answers and moves are arrays, in the order of the fields in recording.cpp.
struct Recording {
    /// The numbers of one answer; empty: not known.
    struct Answer {
        int contextTokens = 0;
        std::optional<double> ttftMs, tpotMeanMs, tpotP50Ms, tpotP99Ms, prefillTokensPerSecond, decodeTokensPerSecond;
    };
    static constexpr qsizetype kMostAnswers = 32;
    static constexpr qsizetype kMostMoves = 10'000;
    static constexpr qsizetype kMostBytes = 32 * 1024 * 1024;

    QString model;      // the newest
    QString modelFile;  // its name without folders
    QString device;     // empty: none
    QDateTime made;
    int contextLimit = 0;
    std::optional<int> spillTokens = {};  // where the first block left the device
    PressureHistory history = {};
    QList<PlacementMove> moves = {};  // the newest last
    QList<Answer> answers = {};

    void add(const PlacementMove& move);
    void add(const engine::Telemetry& lastFrame);  // of an answer

    /// Returns a smaller recording to keep with the conversation: no finer than a chart can show, whatever its length.
    Recording kept() const;

    QByteArray toJson() const;
    /// Reads a recording; empty: `json` is none, or exceeds the recorder's own bounds. A mark, move or answer that
    /// makes no sense is left out.
    static std::optional<Recording> parse(const QByteArray& json);
};
