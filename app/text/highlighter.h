// Tells keywords, strings, numbers and comments of a line of code apart.
#pragma once

#include <QList>
#include <QString>
#include <QStringView>

/// Says what a run of characters is, in the terms that colours are chosen by.
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

/// One line without its line break. `state` is 0 for the first line of a text. An unknown language has no runs.
HighlightedLine highlightLine(const QString& language, QStringView line, int state);
/// The state after several lines.
int stateAfter(const QString& language, QStringView text, int state);
/// The language's name as people write it: "C++" for "cpp". The name itself where it is not known.
QString languageTitle(const QString& language);
