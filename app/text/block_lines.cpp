#include "app/text/block_lines.h"

#include "app/text/lines.h"
#include "app/text/markdown.h"
#include "app/text/shown_formula.h"

#include <QCoreApplication>

#include <utility>

namespace {

constexpr qsizetype kLongestParagraph = 6000;  // characters; the open piece is read again whenever it grows
constexpr qsizetype kLongestContainer = 64'000;
constexpr qsizetype kMostColumns = 64;

/// Returns how many $$ stand in a line, outside of code.
int displayMarks(QStringView line)
{
    int marks = 0;
    for (qsizetype i = 0; i + 1 < line.size(); ++i) {
        if (line[i] == u'\\') {
            ++i;
        } else if (line[i] == u'`') {
            i = codeEnd(line, i) - 1;
        } else if (line[i] == u'$' && line[i + 1] == u'$') {
            ++marks;
            ++i;
        }
    }
    return marks;
}

}  // namespace

void BlockLines::add(const QString& text, Line kind)
{
    if (m_state.mode != Mode::RestOfText && m_blocks.blocks().size() >= kMostBlocks)
        beginRestOfText();
    if (m_state.mode == Mode::RestOfText)
        return m_blocks.addCodeLine(text, kind);
    const bool rest = std::exchange(m_state.cut, kind == Line::Cut);
    addLine(rest || isBlank(text) ? text : withoutLongItems(text), kind);
}

/// Returns the line without the indents of the long items that it belongs to; items further in have ended.
QString BlockLines::withoutLongItems(const QString& text)
{
    const QList<LongItem>& items = m_state.longItems;
    QStringView inner = text;
    qsizetype in = 0;
    for (; in < items.size() && indentOf(inner) >= items[in].textAt; ++in)
        inner = withoutIndent(inner, items[in].textAt);
    if (in < items.size()) {
        const bool afterBlank = m_state.afterBlank;
        closePiece();
        m_state.afterBlank = afterBlank;
        m_state.listMark = items[in].listMark;
        m_state.number = items[in].number;
        m_state.longItems.resize(in);
    }
    return inner.toString();
}

void BlockLines::addLine(const QString& text, Line kind)
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
    case Mode::RestOfText:
        break;  // add() handles this mode itself
    }
}

void BlockLines::startLine(const QString& text, Line kind)
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
        m_blocks.startCode({}, lists(), 0);
        lineOfIndented(text, kind);
        return;
    }
    m_state.mode = Mode::Paragraph;
    m_state.open = text;
    noteMaths(text);
    if (kind == Line::Cut)
        closePiece();
}

/// Begins the block whose marks the line has, after closing the open piece. False: it is a line of text.
bool BlockLines::startBlock(const QString& text)
{
    if (const auto fence = fenceLine(text)) {
        closePiece();
        m_blocks.startCode(languageOf(fence->info), lists(), 0);
        m_state.mode = Mode::Fenced;
        m_state.fence = OpenFence(*fence);
        m_state.listMark = {};
        return true;
    }
    if (isHeading(text)) {
        closePiece();
        m_blocks.add(parseMarkdown(text, {.lists = lists(), .references = m_state.references.usedBy(text)}));
        m_state.listMark = {};
        return true;
    }
    if (isRule(text)) {
        closePiece();
        m_blocks.add({.kind = Block::Kind::Rule, .indent = lists()});
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

bool BlockLines::startMaths(const QString& text)
{
    const QString trimmed = text.trimmed();
    const QString close = displayEnd(trimmed);
    if (close.isEmpty())
        return false;
    if (const auto whole = mathsAt(trimmed, 0)) {
        if (whole->size != trimmed.size())
            return false;
        closePiece();
        addMaths(*whole);
    } else {
        if (close.size() == 2 && QStringView(trimmed).sliced(2).contains(close))
            return false;
        closePiece();
        m_state.mode = Mode::Maths;
        m_state.open = text;
    }
    m_state.listMark = {};
    return true;
}

void BlockLines::addMaths(const MathsSpan& maths)
{
    m_blocks.add({.kind = Block::Kind::Maths,
                  .indent = lists(),
                  .text = shownFormula(maths.formula),
                  .formula = maths.formula.toString()});
}

void BlockLines::startItem(const QString& text)
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

void BlockLines::lineOfParagraph(const QString& text, Line kind)
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
    const bool closesMaths = m_state.mathsOpen && text.trimmed().startsWith(QLatin1String("$$"));
    const bool interrupts = !item || isRule(text) || (!item->empty && (bullet || item->number == 1));
    if (!closesMaths && interrupts && indentOf(text) < 4 && startBlock(text))
        return;
    m_state.open += u'\n' + text;
    noteMaths(text);
    if (m_state.open.size() > kLongestParagraph || kind == Line::Cut)
        closePiece();
}

/// Notes whether a formula is open: its $$ may end a paragraph's line, and it then goes on to the next $$.
void BlockLines::noteMaths(const QString& text)
{
    const bool odd = displayMarks(text) % 2 == 1;
    m_state.mathsOpen = m_state.mathsOpen ? !odd : odd && text.trimmed().endsWith(QLatin1String("$$"));
}

bool BlockLines::startTable(const QString& text)
{
    if (m_blocks.cells() >= kMostCells)
        return false;
    const qsizetype columns = delimiterColumns(text);
    const qsizetype headAt = m_state.open.lastIndexOf(u'\n') + 1;
    const QString head = m_state.open.mid(headAt);
    if (columns == 0 || columns > kMostColumns || !head.contains(u'|') || cellCount(head) != columns)
        return false;
    m_state.open.truncate(qMax(qsizetype(0), headAt - 1));
    closePiece();
    m_state.mode = Mode::Table;
    m_state.columns = parseTableColumns(text);
    m_blocks.addTable(m_state.columns, cellsOf(head), lists());
    return true;
}

bool BlockLines::beginsBlock(const QString& text) const
{
    return indentOf(text) < 4 && (fenceLine(text) || isHeading(text) || isRule(text) || isQuote(text) ||
                                  itemLine(text) || QStringView(text).trimmed().startsWith(u"$$"));
}

void BlockLines::lineOfItem(const QString& text, Line kind)
{
    if (isBlank(text)) {
        m_state.afterBlank = true;
        lineInside({});
        return;
    }
    if (indentOf(text) >= m_state.textAt) {
        m_state.afterBlank = false;
        lineInside(text, kind);
        return;
    }
    if (m_state.afterBlank || beginsBlock(text) || m_state.fence.isOpen()) {
        const bool afterBlank = m_state.afterBlank;
        closePiece();
        m_state.afterBlank = afterBlank;
        startLine(text, kind);
        return;
    }
    lineInside(text, kind);  // an unindented line goes on with the item's paragraph
}

void BlockLines::lineOfQuote(const QString& text, Line kind)
{
    const bool marked = isQuote(text);
    if (isBlank(text) || (!marked && (beginsBlock(text) || m_state.fence.isOpen()))) {
        closePiece();
        startLine(text, kind);
        return;
    }
    lineInside(text, kind);
}

void BlockLines::lineInside(const QString& text, Line kind)
{
    if (!m_state.open.isEmpty())
        m_state.open += u'\n';
    m_state.open += text;
    m_state.fence.take(text, m_state.mode == Mode::Item ? m_state.textAt : 0);
    const qsizetype longest = m_state.fence.isOpen() ? kLongestContainer : kLongestParagraph;
    if (m_state.open.size() > longest || kind == Line::Cut)
        splitPiece(kind);
}

/// Closes a piece that is too long, although its item or quote may go on. Open code in it goes on line by line.
void BlockLines::splitPiece(Line kind)
{
    const Mode mode = m_state.mode;
    const OpenFence fence = m_state.fence;
    closePiece();
    if (mode == Mode::Item) {
        m_state.longItems.append({m_state.textAt, m_state.listMark, m_state.number});
        m_state.listMark = {};
    }
    if (fence.isOpen() && m_blocks.goOnWithCode(kind)) {
        m_state.mode = Mode::Fenced;
        m_state.fence = fence;
    }
}

void BlockLines::lineOfIndented(const QString& text, Line kind)
{
    if (isBlank(text)) {
        ++m_state.blankLines;
        return;
    }
    if (indentOf(text) < 4 && m_blocks.lastLine() == Line::Whole) {
        closePiece();
        m_state.afterBlank = m_state.afterBlank || m_state.blankLines > 0;
        startLine(text, kind);
        return;
    }
    for (; m_state.blankLines > 0; --m_state.blankLines)
        m_blocks.addCodeLine({}, Line::Whole);
    m_blocks.addCodeLine(m_blocks.lastLine() == Line::Cut ? QStringView(text) : withoutIndent(text, 4), kind);
}

void BlockLines::lineOfFenced(const QString& text, Line kind)
{
    if (m_blocks.lastLine() == Line::Cut)
        return m_blocks.addCodeLine(text, kind);
    const auto code = m_state.fence.codeOf(text);
    if (!code) {
        closePiece();
        startLine(text, kind);
    } else if (m_state.fence.isClosedBy(*code)) {
        closePiece();
    } else {
        m_blocks.addCodeLine(m_state.fence.withoutItsIndent(*code), kind);
    }
}

void BlockLines::lineOfMaths(const QString& text)
{
    if (isBlank(text)) {  // the formula was none after all
        m_state.mode = Mode::Paragraph;
        closePiece();
        m_state.afterBlank = true;
        return;
    }
    m_state.open += u'\n' + text;
    const QString all = m_state.open.trimmed();
    const QString close = displayEnd(all);
    const auto whole = text.contains(close) ? mathsAt(all, 0) : std::nullopt;
    const bool innerEnds = close.size() > 2 && !whole;  // the end in this line, if any, is an inner environment's
    if ((!text.contains(close) || innerEnds) && m_state.open.size() < kLongestParagraph)
        return;
    if (whole && whole->size == all.size()) {
        addMaths(*whole);
        m_state.open.clear();
    }
    m_state.mode = Mode::Paragraph;
    if (m_state.open.isEmpty() || m_state.open.size() >= kLongestParagraph)
        closePiece();
}

void BlockLines::lineOfTable(const QString& text, Line kind)
{
    const bool row = text.contains(u'|') && (text.trimmed().startsWith(u'|') || !beginsBlock(text));
    if (!row) {
        closePiece();
        startLine(text, kind);
        return;
    }
    if (m_state.mode == Mode::Table && m_blocks.cells() >= kMostCells)
        beginRestOfTable();
    if (m_state.mode == Mode::RestOfTable)
        m_blocks.addCodeLine(text, kind);
    else
        m_blocks.addRow(cellsOf(text));
}

void BlockLines::beginRestOfTable()
{
    beginRest(Mode::RestOfTable,
              QCoreApplication::translate("BlockBuilder", "This table is too large to be drawn whole. Its other rows "
                                                          "follow as they were written."));
}

void BlockLines::beginRestOfText()
{
    closePiece();
    m_state.longItems.clear();
    beginRest(Mode::RestOfText,
              QCoreApplication::translate("BlockBuilder", "This text has too many parts to be drawn whole. What "
                                                          "follows is shown as it was written."));
}

void BlockLines::beginRest(Mode rest, const QString& note)
{
    m_blocks.addParagraph({.spans = {{.text = note, .looks = Span::Italic}}, .depth = lists()}, 0, 0);
    m_blocks.startCode({}, lists(), 0);
    m_state.mode = rest;
}

/// Returns the cells of one row of the open table.
QList<Spans> BlockLines::cellsOf(QStringView line) const
{
    return parseTableRow(line, m_state.columns.size(), m_state.references.usedBy(line));
}

/// Ends the piece of text that is open.
void BlockLines::closePiece()
{
    const Mode mode = std::exchange(m_state.mode, Mode::None);
    m_state.fence = {};
    m_state.mathsOpen = false;
    m_state.afterBlank = false;
    m_state.blankLines = 0;
    const QString piece = std::exchange(m_state.open, {});
    if (piece.isEmpty() || mode == Mode::None)
        return;
    if (mode == Mode::Paragraph)
        m_state.references.take(piece);
    QList<Block> blocks =
        parseMarkdown(piece, {.listNumber = mode == Mode::Item ? std::optional(m_state.number) : std::nullopt,
                              .lists = lists(),
                              .tables = mode != Mode::Paragraph,  // of those outside, each row is read by itself
                              .cells = qMin(MarkdownPlace().cells, kMostCells - m_blocks.cells()),
                              .references = m_state.references.usedBy(piece)});
    if (mode == Mode::Item && !blocks.isEmpty() && !blocks[0].paragraphs.isEmpty())
        blocks[0].paragraphs[0].close = m_state.closeToLast;
    m_blocks.add(blocks);
}

// ---- the open piece, shown as if the text ended here ----

void BlockLines::showOpen(const QString& line)
{
    const State closed = m_state;
    m_blocks.beginOpen();
    if (!line.isEmpty() && worthShowing(line))
        add(line, Line::Whole);
    if (m_state.mode == Mode::Paragraph && m_state.open.startsWith(u'|') && m_state.open.count(u'\n') < 2)
        m_state.open.clear();  // most likely the head of a table
    if (m_state.mode == Mode::Maths) {
        const QString typed = m_state.open.trimmed();
        m_blocks.add({.kind = Block::Kind::Maths,
                      .indent = lists(),
                      .text = displayEnd(typed).size() == 2 ? typed.mid(2).trimmed() : typed});
        m_state.open.clear();
    } else if (!m_state.fence.isOpen()) {
        m_state.open = withClosedMarks(m_state.open);
    }
    closePiece();
    m_state = closed;
    m_blocks.endOpen();
}

/// Says whether an unfinished line is shown. Not if it holds marks only, as "1." or "##": the next characters tell what
/// they mean.
bool BlockLines::worthShowing(const QString& text) const
{
    const QStringView trimmed = QStringView(text).trimmed();
    if (m_state.mode == Mode::Fenced)
        return trimmed.isEmpty() || trimmed.count(m_state.fence.mark()) < trimmed.size();
    if (m_state.mode == Mode::Indented || m_state.mode == Mode::RestOfText || trimmed.size() > 20)
        return true;
    if (m_state.mode == Mode::Table)
        return trimmed.size() > 1;
    static constexpr QStringView marks = u"`~#>*+-_=|:.)$\\[] 0123456789";
    for (const QChar c : trimmed)
        if (!marks.contains(c))
            return true;
    return false;
}
