// Separates a model's reasoning from its answer.
#pragma once

#include <QString>
#include <QStringView>

#include <vector>

/// Finds the marks around reasoning: <think>, <thinking>, [THINK], gpt-oss's channels and others. Text may come in
/// pieces of any length; the possible beginning of a mark is held back until the next piece. No thread; owned by the
/// blocks of one message.
class ReasoningMarks
{
public:
    /// Holds one part of the text that was read, or a border between parts.
    struct Part {
        enum class Kind {
            Answer,     // text of the answer
            Thought,    // text of the reasoning
            Begin,      // reasoning begins
            End,        // reasoning ends
            WasThought  // all text so far was reasoning: only its end was marked
        };
        Kind kind;
        QString text = {};
    };

    std::vector<Part> add(QStringView piece);
    std::vector<Part> end();  // call it at the end; returns the text held back

private:
    void character(QChar c, std::vector<Part>& parts);
    void close(std::vector<Part>& parts);
    void put(QStringView text, std::vector<Part>& parts);
    void release(std::vector<Part>& parts);
    bool wholeMark(std::vector<Part>& parts);
    bool beginningOfMark() const;
    void followFences(QChar c);

    QString m_held;             // text held back, perhaps the beginning of a mark
    QString m_close;            // mark that ends the reasoning or commentary; empty: none is open
    bool m_commentary = false;  // a commentary is open, which is a part of the answer
    bool m_seen = false;        // reasoning, or its end, has come
    bool m_lineStart = true;    // only space since the line break
    QString m_line;             // the beginning of the line, for fences
    QString m_fence;            // of the open code
    QString m_answerEnd;        // end of the open tag around the answer; need not begin a line
    bool m_inLine = false;      // the held text did not begin a line
};

/// Holds an answer and the reasoning before it, both without marks.
struct PartedAnswer {
    /// What a model is to read again: all but the reasoning, or the reasoning where there is nothing else. A text
    /// without reasoning is not changed at all.
    QString answer;
    QString thoughts;  // empty where they are used as `answer`
};
PartedAnswer partedAnswer(QStringView text);

inline QString answerOf(QStringView text)
{
    return partedAnswer(text).answer;
}
