#include "app/text/markdown.h"

#include "app/text/lines.h"
#include "app/text/markdown_reader.h"

#include <utility>

QList<Block> parseMarkdown(QStringView text, const MarkdownPlace& place)
{
    if (std::optional<QList<Block>> blocks = readMarkdown(prepareMarkdown(text, place.references), place))
        return std::move(*blocks);
    Block plain;
    QString all = text.toString();
    while (all.endsWith(u'\n'))
        all.chop(1);
    plain.paragraphs.append({.spans = {{all.replace(u'\n', QChar::LineSeparator)}}, .depth = place.lists});
    return {plain};
}

QList<Table::Align> parseTableColumns(QStringView line)
{
    QStringView cells = line.trimmed();
    if (cells.startsWith(u'|'))
        cells = cells.sliced(1);
    if (cells.endsWith(u'|'))
        cells.chop(1);
    QList<Table::Align> columns;
    for (const QStringView cell : cells.tokenize(u'|')) {
        const QStringView dashes = cell.trimmed();
        const bool left = dashes.startsWith(u':'), right = dashes.endsWith(u':');
        columns.append(left && right ? Table::Align::Center : right ? Table::Align::Right : Table::Align::Left);
    }
    return columns;
}

QList<Spans> parseTableRow(QStringView line, qsizetype columns, const QString& references)
{
    // Reads a table of this one row, so that its cells are read like all others. It has no more columns than the row
    // has cells, since a table may have many short rows.
    columns = qBound(qsizetype(1), cellCount(line), columns);
    const QString head = QStringLiteral("|") + QStringLiteral("x|").repeated(columns) + QLatin1Char('\n');
    const QString rule = QStringLiteral("|") + QStringLiteral("---|").repeated(columns) + QLatin1Char('\n');
    const QStringView row = line.trimmed();
    const QString table = head + rule + (row.startsWith(u'|') ? QString() : QStringLiteral("|")) + row.toString();
    const std::optional<QList<Block>> blocks = readMarkdown(prepareMarkdown(table, references), {});
    QList<Spans> cells;
    if (blocks && blocks->size() == 1 && blocks->first().table.rows.size() == 2)
        cells = blocks->first().table.rows[1];
    else
        cells.append({{line.toString()}});
    return cells;
}

QString languageOf(QStringView info)
{
    info = info.trimmed();
    const auto ends = [](QChar c) { return c.isSpace() || c == u'{' || c == u',' || c == u':'; };
    qsizetype size = 0;
    while (size < info.size() && size < 40 && !ends(info[size]))
        ++size;
    return info.first(size).toString();
}

QString withClosedMarks(QString text)
{
    bool code = false, bold = false;
    for (qsizetype i = text.lastIndexOf(QLatin1String("\n\n")) + 1; i < text.size(); ++i) {
        if (text[i] == u'\\' && !code)
            ++i;
        else if (text[i] == u'`')
            code = !code;
        else if (!code && text[i] == u'*' && i + 1 < text.size() && text[i + 1] == u'*')
            bold = !bold, ++i;
    }
    if (code)
        return text.endsWith(u'`') ? text.chopped(1) : text + u'`';
    if (bold && text.endsWith(QLatin1String("**")))
        return text.chopped(2);
    while (bold && text.back().isSpace())
        text.chop(1);
    return bold ? text + QLatin1String("**") : text;
}
