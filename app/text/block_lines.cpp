// BlockBuilder: what each line means, by what is open.
#include "app/text/block_builder.h"

#include "app/text/lines.h"
#include "app/text/markdown.h"
#include "app/text/maths.h"

#include <QCoreApplication>

#include <utility>

namespace {

constexpr qsizetype kLongestParagraph = 6000;  // characters; read again whenever it grows
constexpr qsizetype kLongestContainer = 64'000;
constexpr qsizetype kMostColumns = 64;

}  // namespace

void BlockBuilder::line(const QString& text, Line kind)
{
    switch (m_state.mode) {
    case Mode::None:
        startLine(text, kind);
        break;
    case Mode::Paragraph:
        lineOfParagraph(text, kind);
        break;
    case Mode::Item:
        lineOfItem(text, kind);
        break;
    case Mode::Quote:
        lineOfQuote(text, kind);
        break;
    case Mode::Indented:
        lineOfIndented(text, kind);
        break;
    case Mode::Fenced:
        lineOfFenced(text, kind);
        break;
    case Mode::Maths:
        lineOfMaths(text);
        break;
    case Mode::Table:
    case Mode::RestOfTable:
        lineOfTable(text, kind);
        break;
    }
}

void BlockBuilder::startLine(const QString& text, Line kind)
{
    if (isBlank(text)) {
        m_state.afterBlank = true;
        return;
    }
    const bool code = indentOf(text) >= 4;
    if (!code && startBlock(text)) {
        m_state.afterBlank = false;
        return;
    }
    m_state.afterBlank = false;
    m_state.listMark = {};
    if (code) {
        m_state.mode = Mode::Indented;
        startCode({}, 0, 0);
        lineOfIndented(text, kind);
        return;
    }
    m_state.mode = Mode::Paragraph;
    m_state.open = text;
    if (kind == Line::Cut)
        closePiece();
}

/// Begins what the line's marks announce, after the piece that was open. False: it is a line of text.
bool BlockBuilder::startBlock(const QString& text)
{
    if (const auto fence = fenceLine(text)) {
        closePiece();
        startCode(languageOf(fence->info), 0, 0);
        m_state.mode = Mode::Fenced;
        m_state.fence = fence->marks;
        m_state.fenceIndent = fence->indent;
        m_state.listMark = {};
        return true;
    }
    if (isHeading(text)) {
        closePiece();
        add(parseMarkdown(text, {.references = m_state.references.usedBy(text)}));
        m_state.listMark = {};
        return true;
    }
    if (isRule(text)) {
        closePiece();
        addBlock({.kind = Block::Kind::Rule});
        m_state.listMark = {};
        return true;
    }
    if (isQuote(text)) {
        closePiece();
        m_state.mode = Mode::Quote;
        m_state.listMark = {};
        lineInside(text);
        return true;
    }
    if (itemLine(text)) {
        startItem(text);
        return true;
    }
    return startMaths(text);
}

bool BlockBuilder::startMaths(const QString& text)
{
    const QString trimmed = text.trimmed();
    const bool dollars = trimmed.startsWith(QLatin1String("$$"));
    if (!dollars && !trimmed.startsWith(QLatin1String("\\[")))
        return false;
    if (const auto whole = mathsAt(trimmed, 0)) {
        if (whole->size != trimmed.size())
            return false;
        closePiece();
        addBlock(
            {.kind = Block::Kind::Maths, .text = shownFormula(whole->formula), .formula = whole->formula.toString()});
    } else {
        if (QStringView(trimmed).sliced(2).contains(dollars ? u"$$" : u"\\]"))
            return false;
        closePiece();
        m_state.mode = Mode::Maths;
        m_state.open = text;
    }
    m_state.listMark = {};
    return true;
}

void BlockBuilder::startItem(const QString& text)
{
    const ItemLine item = *itemLine(text);
    const bool afterBlank = m_state.afterBlank;
    closePiece();
    m_state.goesOn = m_state.listMark == item.mark;
    m_state.closeToLast = m_state.goesOn && !afterBlank;
    m_state.number = m_state.goesOn && m_state.number < 999'999'999 ? m_state.number + 1 : item.number;
    m_state.listMark = item.mark;
    m_state.textAt = item.textAt;
    m_state.mode = Mode::Item;
    lineInside(text);
}

/// Code goes to a block at once, line by line.
void BlockBuilder::startCode(const QString& language, int indent, int quotes)
{
    addBlock({.kind = Block::Kind::Code, .indent = indent, .quotes = quotes, .language = language});
    m_state.codeLines = 0;
    m_state.lastLine = Line::Whole;
}

void BlockBuilder::lineOfParagraph(const QString& text, Line kind)
{
    if (isBlank(text)) {
        closePiece();
        m_state.afterBlank = true;
        return;
    }
    if (startTable(text))
        return;
    if (isUnderline(text) && !itemLine(text)) {
        m_state.open += u'\n' + text;
        closePiece();
        return;
    }
    const auto item = itemLine(text);
    const bool bullet = item && QStringView(u"-+*").contains(item->mark);
    const bool interrupts = !item || isRule(text) || (!item->empty && (bullet || item->number == 1));
    if (interrupts && indentOf(text) < 4 && startBlock(text))
        return;
    m_state.open += u'\n' + text;
    if (m_state.open.size() > kLongestParagraph || kind == Line::Cut)
        closePiece();
}

bool BlockBuilder::startTable(const QString& text)
{
    if (m_state.cells >= kMostCells)
        return false;
    const qsizetype columns = delimiterColumns(text);
    const qsizetype headAt = m_state.open.lastIndexOf(u'\n') + 1;
    const QString head = m_state.open.mid(headAt);
    if (columns == 0 || columns > kMostColumns || !head.contains(u'|') || cellCount(head) != columns)
        return false;
    m_state.open.truncate(qMax(qsizetype(0), headAt - 1));
    closePiece();
    m_state.mode = Mode::Table;
    m_state.columns.clear();
    QStringView cells = QStringView(text).trimmed();
    if (cells.startsWith(u'|'))
        cells = cells.sliced(1);
    if (cells.endsWith(u'|'))
        cells.chop(1);
    for (const QStringView cell : cells.tokenize(u'|')) {
        const QStringView dashes = cell.trimmed();
        const bool left = dashes.startsWith(u':'), right = dashes.endsWith(u':');
        m_state.columns.append(left && right ? Table::Align::Center : right ? Table::Align::Right : Table::Align::Left);
    }
    m_state.head = cellsOf(head);
    m_state.cells += columns;
    addBlock({.kind = Block::Kind::Table, .table = {m_state.columns, {m_state.head}}});
    return true;
}

bool BlockBuilder::beginsBlock(const QString& text) const
{
    return indentOf(text) < 4 && (fenceLine(text) || isHeading(text) || isRule(text) || isQuote(text) ||
                                  itemLine(text) || QStringView(text).trimmed().startsWith(u"$$"));
}

void BlockBuilder::lineOfItem(const QString& text, Line kind)
{
    if (isBlank(text)) {
        m_state.afterBlank = true;
        lineInside({});
        return;
    }
    if (indentOf(text) >= m_state.textAt) {
        m_state.afterBlank = false;
        lineInside(text);
        if (kind == Line::Cut && m_state.nestedFence.isEmpty())
            closePiece();
        return;
    }
    if (m_state.afterBlank || beginsBlock(text) || !m_state.nestedFence.isEmpty()) {
        const bool afterBlank = m_state.afterBlank;
        closePiece();
        m_state.afterBlank = afterBlank;
        startLine(text, kind);
        return;
    }
    lineInside(text);  // goes on with the paragraph though nothing says so
    if (kind == Line::Cut)
        closePiece();
}

void BlockBuilder::lineOfQuote(const QString& text, Line kind)
{
    const bool marked = isQuote(text);
    if (isBlank(text) || (!marked && (beginsBlock(text) || !m_state.nestedFence.isEmpty()))) {
        closePiece();
        startLine(text, kind);
        return;
    }
    lineInside(text);
    if (kind == Line::Cut)
        closePiece();
}

void BlockBuilder::lineInside(const QString& text)
{
    if (!m_state.open.isEmpty())
        m_state.open += u'\n';
    m_state.open += text;
    // Only whether code is open matters, so any depth will do.
    QStringView inner = QStringView(text).trimmed();
    while (inner.startsWith(u'>'))
        inner = inner.sliced(1).trimmed();
    if (const auto item = itemLine(inner); item && !isRule(inner))
        inner = inner.sliced(qMin(item->textAt, inner.size())).trimmed();
    const auto fence = fenceLine(inner);
    if (m_state.nestedFence.isEmpty() && fence)
        m_state.nestedFence = fence->marks;
    else if (!m_state.nestedFence.isEmpty() && closesFence(inner, m_state.nestedFence))
        m_state.nestedFence.clear();
    if (m_state.open.size() > (m_state.nestedFence.isEmpty() ? kLongestParagraph : kLongestContainer))
        closePiece();
}

void BlockBuilder::lineOfIndented(const QString& text, Line kind)
{
    if (isBlank(text)) {
        ++m_state.blankLines;
        return;
    }
    if (indentOf(text) < 4 && m_state.lastLine == Line::Whole) {
        closePiece();
        m_state.afterBlank = m_state.afterBlank || m_state.blankLines > 0;
        startLine(text, kind);
        return;
    }
    for (; m_state.blankLines > 0; --m_state.blankLines)
        addCodeLine({}, Line::Whole);
    addCodeLine(m_state.lastLine == Line::Cut ? QStringView(text) : withoutIndent(text, 4), kind);
}

void BlockBuilder::lineOfFenced(const QString& text, Line kind)
{
    if (closesFence(text, m_state.fence) && m_state.lastLine == Line::Whole)
        closePiece();
    else
        addCodeLine(m_state.lastLine == Line::Cut ? QStringView(text) : withoutIndent(text, m_state.fenceIndent), kind);
}

void BlockBuilder::lineOfMaths(const QString& text)
{
    if (isBlank(text)) {  // none after all
        m_state.mode = Mode::Paragraph;
        closePiece();
        m_state.afterBlank = true;
        return;
    }
    m_state.open += u'\n' + text;
    const QString all = m_state.open.trimmed();
    const QLatin1String close(all.startsWith(u'$') ? "$$" : "\\]");
    if (!text.contains(close) && m_state.open.size() < kLongestParagraph)
        return;
    const auto whole = mathsAt(all, 0);
    if (whole && whole->size == all.size()) {
        addBlock(
            {.kind = Block::Kind::Maths, .text = shownFormula(whole->formula), .formula = whole->formula.toString()});
        m_state.open.clear();
    }
    m_state.mode = Mode::Paragraph;
    if (m_state.open.isEmpty() || m_state.open.size() >= kLongestParagraph)
        closePiece();
}

void BlockBuilder::lineOfTable(const QString& text, Line kind)
{
    const bool row = text.contains(u'|') && (text.trimmed().startsWith(u'|') || !beginsBlock(text));
    if (!row) {
        closePiece();
        startLine(text, kind);
        return;
    }
    if (m_state.mode == Mode::Table && m_state.cells >= kMostCells)
        beginRestOfTable();
    if (m_state.mode == Mode::RestOfTable)
        addCodeLine(text, kind);
    else
        addRow(cellsOf(text));
}

void BlockBuilder::beginRestOfTable()
{
    const QString note = QCoreApplication::translate(
        "BlockBuilder", "This table is too large to be drawn whole. Its other rows follow as they were written.");
    addParagraph({.spans = {{.text = note, .looks = Span::Italic}}}, 0, 0);
    startCode({}, 0, 0);
    m_state.mode = Mode::RestOfTable;
}
