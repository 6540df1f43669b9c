#include "app/text/lines.h"

static constexpr qsizetype kIndented = 4;  // columns of indent that make a line code

bool isBlank(QStringView line)
{
    return line.trimmed().isEmpty();
}

qsizetype columnsOf(QStringView text)
{
    qsizetype columns = 0;
    for (const QChar c : text)
        columns += c == u'\t' ? 4 - columns % 4 : 1;
    return columns;
}

qsizetype indentOf(QStringView line)
{
    qsizetype end = 0;
    while (end < line.size() && (line[end] == u' ' || line[end] == u'\t'))
        ++end;
    return columnsOf(line.first(end));
}

QStringView withoutIndent(QStringView line, qsizetype most)
{
    qsizetype i = 0;
    while (i < line.size() && most > 0 && (line[i] == u' ' || line[i] == u'\t')) {
        most -= line[i] == u'\t' ? 4 : 1;
        ++i;
    }
    return line.sliced(i);
}

static qsizetype runAt(QStringView text, qsizetype at)
{
    qsizetype end = at;
    while (end < text.size() && text[end] == text[at])
        ++end;
    return end - at;
}

std::optional<FenceLine> fenceLine(QStringView line)
{
    const qsizetype indent = indentOf(line);
    const QStringView text = line.trimmed();
    if (indent >= kIndented || text.isEmpty() || (text[0] != u'`' && text[0] != u'~'))
        return {};
    const qsizetype run = runAt(text, 0);
    const QStringView info = text.sliced(run);
    if (run < 3 || (text[0] == u'`' && info.contains(u'`')))
        return {};
    return FenceLine{text.first(run).toString(), indent, info};
}

bool closesFence(QStringView line, const QString& marks)
{
    const QStringView text = line.trimmed();
    return indentOf(line) < kIndented && text.startsWith(marks) && runAt(text, 0) == text.size();
}

std::optional<ItemLine> itemLine(QStringView line)
{
    const qsizetype indent = indentOf(line);
    if (indent >= kIndented)
        return {};
    const QStringView text = line.trimmed();
    qsizetype at = 0;
    while (at < text.size() && at < 9 && text[at] >= u'0' && text[at] <= u'9')
        ++at;
    if (at >= text.size() || !(at > 0 ? QStringView(u".)") : QStringView(u"-+*")).contains(text[at]))
        return {};
    ItemLine item{text[at], text.first(at).toInt()};
    const qsizetype marks = at + 1;
    const QStringView rest = text.sliced(marks);
    item.empty = rest.isEmpty();
    if (!item.empty && rest[0] != u' ' && rest[0] != u'\t')
        return {};
    const qsizetype space = item.empty ? 1 : indentOf(rest);
    item.textAt = indent + marks + (space > kIndented ? 1 : space);
    return item;
}

bool isRule(QStringView line)
{
    const QStringView text = line.trimmed();
    if (indentOf(line) >= kIndented || text.size() < 3 || !QStringView(u"-*_").contains(text[0]))
        return false;
    qsizetype marks = 0;
    for (const QChar c : text) {
        if (c == text[0])
            ++marks;
        else if (!c.isSpace())
            return false;
    }
    return marks >= 3;
}

bool isHeading(QStringView line)
{
    const QStringView text = line.trimmed();
    if (indentOf(line) >= kIndented || !text.startsWith(u'#'))
        return false;
    const qsizetype run = runAt(text, 0);
    return run <= 6 && (run == text.size() || text[run].isSpace());
}

bool isUnderline(QStringView line)
{
    const QStringView text = line.trimmed();
    return indentOf(line) < kIndented && (text.startsWith(u'=') || text.startsWith(u'-')) &&
           runAt(text, 0) == text.size();
}

bool isQuote(QStringView line)
{
    return indentOf(line) < kIndented && line.trimmed().startsWith(u'>');
}

static qsizetype runOf(QStringView text, qsizetype at)
{
    qsizetype end = at;
    while (end < text.size() && text[end] == text[at])
        ++end;
    return end - at;
}

qsizetype codeEnd(QStringView text, qsizetype at)
{
    const qsizetype ticks = runOf(text, at);
    for (qsizetype i = at + ticks; i < text.size(); ++i) {
        if (text[i] != u'`')
            continue;
        const qsizetype run = runOf(text, i);
        if (run == ticks)
            return i + run;
        i += run - 1;
    }
    return at + ticks;
}

qsizetype delimiterColumns(QStringView line)
{
    QStringView text = line.trimmed();
    if (!text.contains(u'|') || !text.contains(u'-'))
        return 0;
    if (text.startsWith(u'|'))
        text = text.sliced(1);
    if (text.endsWith(u'|'))
        text.chop(1);
    qsizetype columns = 0;
    for (const QStringView cell : text.tokenize(u'|')) {
        QStringView dashes = cell.trimmed();
        if (dashes.startsWith(u':'))
            dashes = dashes.sliced(1);
        if (dashes.endsWith(u':'))
            dashes.chop(1);
        if (dashes.isEmpty() || dashes[0] != u'-' || runAt(dashes, 0) != dashes.size())
            return 0;
        ++columns;
    }
    return columns;
}

qsizetype cellCount(QStringView line)
{
    const QStringView text = line.trimmed();
    qsizetype bars = 0;
    for (qsizetype i = 0; i < text.size(); ++i) {
        if (text[i] == u'\\')
            ++i;
        else if (text[i] == u'|' && i > 0 && i + 1 < text.size())
            ++bars;
    }
    return bars + 1;
}
