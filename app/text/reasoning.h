// Parts what a model thinks aloud from what it answers.
#pragma once

#include <QString>
#include <QStringView>

#include <vector>

/// Finds the marks between which models think: <think>, <thinking>, [THINK], gpt-oss's channels and their like. Text
/// may come in pieces, cut anywhere; what could be the beginning of a mark waits for the next. No thread; owned by the
/// blocks of one message.
class ReasoningMarks
{
public:
    /// Holds what a piece of text turned out to be, in order.
    struct Part {
        enum class Kind {
            Answer,     // text of the answer
            Thought,    // text of the reasoning
            Begin,      // of a reasoning
            End,        // of it
            WasThought  // all text so far was reasoning: only its end was marked
        };
        Kind kind;
        QString text = {};
    };

    std::vector<Part> add(QStringView piece);
    std::vector<Part> end();  // no more text comes

private:
    void character(QChar c, std::vector<Part>& parts);
    void close(std::vector<Part>& parts);
    void put(QStringView text, std::vector<Part>& parts);
    void release(std::vector<Part>& parts);
    bool wholeMark(std::vector<Part>& parts);
    bool beginningOfMark() const;
    void followFences(QChar c);

    QString m_held;             // the beginning of a mark, perhaps
    QString m_close;            // what ends the reasoning or the commentary; empty: none is open
    bool m_commentary = false;  // it is one, and so a part of the answer
    bool m_seen = false;        // a reasoning, or its end
    bool m_lineStart = true;    // only space since the line break
    QString m_line;             // the beginning of the line, for fences
    QString m_fence;            // of the code that is open
    QString m_answerEnd;        // of the tag around the answer, if one is open; it may stand in a line
    bool m_inLine = false;      // what is held began in a line
};

/// An answer, parted from what the model thought before it. Both without marks.
struct PartedAnswer {
    /// What a model is to read again of it: all but what it thought, or that where it got no further. A text without
    /// reasoning is left as it is, to the last space.
    QString answer;
    QString thoughts;  // empty where they are the answer
};
PartedAnswer partedAnswer(QStringView text);

inline QString answerOf(QStringView text)
{
    return partedAnswer(text).answer;
}
