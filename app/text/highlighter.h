// Finds keywords, strings, numbers and comments in a line of code.
#pragma once

#include <QList>
#include <QString>
#include <QStringView>

/// Names the kinds of runs that have colours of their own.
enum class CodeWord { Comment, String, Number, Keyword, Type, Function, Added, Removed };

struct CodeRun {
    qsizetype start = 0;
    qsizetype size = 0;
    CodeWord word = CodeWord::Comment;
    bool operator==(const CodeRun&) const = default;
};

struct HighlightedLine {
    QList<CodeRun> runs;
    int state = 0;  // for the next line
};

/// Highlights one line, given without its line break. `state` is 0 for the first line of a text. Code in an unknown
/// language has no runs.
HighlightedLine highlightLine(const QString& language, QStringView line, int state);
/// Returns the state after several lines.
int stateAfter(const QString& language, QStringView text, int state);
/// Returns the language's name as people write it: "C++" for "cpp"; an unknown name as it is.
QString languageTitle(const QString& language);
