// ReasoningClock measures how long a model thinks.
#pragma once

#include "app/text/reasoning.h"

#include <QElapsedTimer>
#include <QStringView>

#include <optional>

/// Times what a model thinks while its answer streams in; all the thoughts of an answer together are its time. A
/// thought that came whole in one piece has none. Lives on the UI thread; owned by TurnRunner, for the turn that
/// runs.
class ReasoningClock
{
public:
    /// Call it when an answer begins, or goes on behind the text `earlier`, for which the model thought `ms`
    /// milliseconds.
    void start(QStringView earlier, std::optional<double> ms);
    /// Call it with the text that came next. True: a thought has ended, and ms() has grown.
    bool add(QStringView text);
    /// Call it when no more of the answer comes. True: that cut a thought off, and ms() has grown by its time.
    bool end();

    std::optional<double> ms() const { return m_ms; }  // empty: not known, or it did not think

private:
    void addTime();

    ReasoningMarks m_marks;
    QElapsedTimer m_timer;     // since the thought began, or the turn's first text, which may be a thought
    bool m_thinking = false;   // a thought's beginning was marked
    bool m_justBegun = false;  // in the piece of text that add() looks at
    std::optional<double> m_ms;
};
