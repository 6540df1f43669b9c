// Writes blocks as short text, so that tests can say what they expect in one line each.
#pragma once

#include "app/text/block.h"

#include <QStringList>

inline QString described(const Spans& spans)
{
    QString out;
    for (const Span& span : spans) {
        QString text = span.text;
        text.replace(QChar::LineSeparator, QLatin1Char('/'));
        if (span.looks & Span::Bold)
            text = "b(" + text + ")";
        if (span.looks & Span::Italic)
            text = "i(" + text + ")";
        if (span.looks & Span::Struck)
            text = "s(" + text + ")";
        if (span.looks & Span::Code)
            text = "c(" + text + ")";
        if (span.looks & Span::Maths)
            text = "m(" + text + ")";
        if (!span.link.isEmpty())
            text += "<" + span.link + ">";
        out += text;
    }
    return out;
}

/// Returns one line for each paragraph and row.
inline QStringList described(const Block& block)
{
    QString place;
    if (block.continues)
        place += "+";
    if (block.indent > 0)
        place += QStringLiteral("%1> ").arg(block.indent);
    place += QStringLiteral("| ").repeated(block.quotes);
    QStringList lines;
    switch (block.kind) {
    case Block::Kind::Text:
        for (const Paragraph& paragraph : block.paragraphs) {
            QString line = place;
            if (paragraph.heading > 0)
                line += QStringLiteral("h%1 ").arg(paragraph.heading);
            if (paragraph.depth > 0)
                line += QStringLiteral("%1 ").arg(paragraph.depth);
            if (!paragraph.marker.isEmpty())
                line += "[" + paragraph.marker + "] ";
            lines += line + described(paragraph.spans);
        }
        break;
    case Block::Kind::Code:
        lines += place + "code " + block.language + ": " + QString(block.text).replace('\n', '/');
        break;
    case Block::Kind::Table:
        for (const QList<Spans>& row : block.table.rows) {
            QStringList cells;
            for (const Spans& cell : row)
                cells += described(cell);
            lines += place + "row " + cells.join(" | ");
        }
        break;
    case Block::Kind::Maths:
        lines += place + "maths " + QString(block.text).replace(QChar::LineSeparator, '/');
        break;
    case Block::Kind::Rule:
        lines += place + "rule";
        break;
    case Block::Kind::Reasoning:
        lines += "reasoning";
        break;
    }
    return lines;
}

inline QString described(const QList<Block>& blocks)
{
    QStringList lines;
    for (const Block& block : blocks)
        lines += described(block);
    return lines.join('\n');
}
