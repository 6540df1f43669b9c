// Tells what a line of Markdown begins, looked at by itself.
#pragma once

#include <QChar>
#include <QString>
#include <QStringView>

#include <optional>

struct FenceLine {
    QString marks;  // ``` or longer, or ~~~
    qsizetype indent = 0;
    QStringView info = {};  // what follows them
};

struct ItemLine {
    QChar mark;  // a bullet, or what stands after the number
    int number = 0;
    qsizetype textAt = 0;  // columns before its text
    bool empty = false;
};

bool isBlank(QStringView line);
qsizetype columnsOf(QStringView text);                        // tabs stop at every fourth
qsizetype indentOf(QStringView line);                         // in columns
QStringView withoutIndent(QStringView line, qsizetype most);  // at most so many columns

std::optional<FenceLine> fenceLine(QStringView line);
bool closesFence(QStringView line, const QString& marks);
std::optional<ItemLine> itemLine(QStringView line);
bool isRule(QStringView line);
bool isHeading(QStringView line);    // # to ######
bool isUnderline(QStringView line);  // makes a heading of the paragraph above
bool isQuote(QStringView line);

/// The end of the code between backticks that begins at `at`, or the end of the backticks if they close nowhere.
qsizetype codeEnd(QStringView text, qsizetype at);

/// Columns of a line like |---|:-:| ; 0: it is none.
qsizetype delimiterColumns(QStringView line);
qsizetype cellCount(QStringView line);
