// Tells what kind of line a line of Markdown is, without the lines around it.
#pragma once

#include <QChar>
#include <QString>
#include <QStringView>

#include <optional>

struct FenceLine {
    QString marks;  // ``` or longer, or ~~~
    qsizetype indent = 0;
    QStringView info = {};  // the text after the marks
};

struct ItemLine {
    QChar mark;  // a bullet, or the character after the number
    int number = 0;
    qsizetype textAt = 0;  // columns before its text
    bool empty = false;
};

bool isBlank(QStringView line);
qsizetype columnsOf(QStringView text);                        // tabs stop at every fourth
qsizetype indentOf(QStringView line);                         // in columns
QStringView withoutIndent(QStringView line, qsizetype most);  // at most this many columns

std::optional<FenceLine> fenceLine(QStringView line);
bool closesFence(QStringView line, const QString& marks);
std::optional<ItemLine> itemLine(QStringView line);
bool isRule(QStringView line);
bool isHeading(QStringView line);    // # to ######
bool isUnderline(QStringView line);  // makes a heading of the paragraph above
bool isQuote(QStringView line);

/// Returns the end of the code between backticks that begins at `at`, or the end of the backticks if the code is not
/// closed.
qsizetype codeEnd(QStringView text, qsizetype at);

/// Returns the number of columns of a line like |---|:-:| ; 0: it is no such line.
qsizetype delimiterColumns(QStringView line);
qsizetype cellCount(QStringView line);
