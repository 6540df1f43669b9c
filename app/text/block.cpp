#include "app/text/block.h"

#include <QStringList>

QString plainText(const Spans& spans)
{
    QString text;
    for (const Span& span : spans)
        text += span.text;
    return text.replace(QChar::LineSeparator, QLatin1Char('\n'));
}

static QString plainText(const Table& table)
{
    QStringList lines;
    for (const QList<Spans>& row : table.rows) {
        QStringList cells;
        for (const Spans& cell : row)
            cells += plainText(cell);
        lines += cells.join(QLatin1Char('\t'));
    }
    return lines.join(QLatin1Char('\n'));
}

QString plainText(const Block& block)
{
    if (block.kind == Block::Kind::Table)
        return plainText(block.table);
    if (block.kind != Block::Kind::Text)
        return block.text;
    QStringList lines;
    for (const Paragraph& paragraph : block.paragraphs)
        lines +=
            (paragraph.marker.isEmpty() ? QString() : paragraph.marker + QLatin1Char(' ')) + plainText(paragraph.spans);
    return lines.join(QLatin1Char('\n'));
}
