// Turns Markdown into blocks, one closed piece at a time.
#pragma once

#include "app/text/block.h"

#include <QStringView>

#include <optional>

/// Says where a piece stands in the text around it.
struct MarkdownPlace {
    std::optional<int> listNumber = {};  // of the piece's first list item, when it goes on with a list
    int lists = 0;                       // in how many it stands
    bool tables = true;                  // whether there may be any
    qsizetype cells = 4000;              // that its tables may have, with those that rows lack
    QString references = {};             // what the text around it names for its links, as lines of Markdown
    bool html = false;                   // whether its HTML means something; else it is text
};

/// The blocks of a piece that begins and ends at borders of blocks. HTML is text; images become their description and
/// a link. What is nested too deeply is shown as typed.
QList<Block> parseMarkdown(QStringView text, const MarkdownPlace& place = {});

/// The cells of one row of a table, at most as many as there are columns. `references` as in MarkdownPlace.
QList<Spans> parseTableRow(QStringView line, qsizetype columns, const QString& references = {});

/// Returns how the columns of a table stand, by the line of dashes under its head.
QList<Table::Align> parseTableColumns(QStringView line);

/// Marks that are open where a text stops growing for a moment, closed: else they show until their partners come.
QString withClosedMarks(QString text);

/// Returns what of a language name after a fence names the language: "python title=x" is "python".
QString languageOf(QStringView info);
