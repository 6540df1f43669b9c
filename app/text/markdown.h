// Turns Markdown into blocks, one closed piece at a time.
#pragma once

#include "app/text/block.h"

#include <QStringView>

#include <optional>

/// Says where a piece stands in the text around it.
struct MarkdownPlace {
    std::optional<int> listNumber = {};  // of the piece's first list item, where the piece continues a list
    int lists = 0;                       // how many lists are around it
    bool tables = true;                  // whether it may hold tables
    qsizetype cells = 4000;              // most cells of its tables, those missing at the end of rows included
    QString references = {};             // link references of the text around it, as lines of Markdown
    bool html = false;                   // whether its HTML is applied; else it is text
};

/// Returns the blocks of a piece, which begins and ends at borders of blocks. Images become their description and a
/// link. A piece that is nested too deeply is shown as typed.
QList<Block> parseMarkdown(QStringView text, const MarkdownPlace& place = {});

/// Returns the cells of one row of a table, at most `columns`. `references` as in MarkdownPlace.
QList<Spans> parseTableRow(QStringView line, qsizetype columns, const QString& references = {});

/// Returns the alignments of a table's columns, by the line of dashes under its head.
QList<Table::Align> parseTableColumns(QStringView line);

/// Returns an unfinished text with its open marks closed: else they would be shown until their partners come.
QString withClosedMarks(QString text);

/// Returns the language's name in the text after a fence: "python title=x" is "python".
QString languageOf(QStringView info);
