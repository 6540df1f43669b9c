#include "app/text/block_maker.h"

#include <QtAlgorithms>

#include <algorithm>
#include <utility>

namespace {

constexpr qsizetype kMostHtmlColumns = 64;    // of a table of HTML
constexpr qsizetype kMostHtmlCells = 20'000;  // of all tables of HTML together

bool endsWithSpace(const Span& span)
{
    return !span.text.isEmpty() && span.text.back().isSpace();
}

}  // namespace

// ---- paragraphs ----

void BlockMaker::beginParagraph(int heading)
{
    if (m_inCell) {
        if (heading == 0)
            return gap(QChar::LineSeparator);
        giveTableUp();
    }
    endParagraph();
    if (m_table && !m_table->rows.isEmpty())  // text between the rows
        addRows(std::exchange(*m_table, {}));
    m_paragraph.emplace();
    m_paragraph->heading = heading;
    m_paragraph->depth = m_depth - (m_quotes > 0 ? m_quoteIndent : 0);
    m_paragraph->close = !m_marker.isEmpty() && m_closeItem;
    m_paragraph->marker = std::exchange(m_marker, {});
}

void BlockMaker::endParagraph()
{
    if (m_inCell)
        return gap(QChar::LineSeparator);
    m_gap = {};
    m_hiddenFrom = -1;
    if (!m_paragraph)
        return;
    Paragraph paragraph = std::move(*m_paragraph);
    m_paragraph.reset();
    if (m_from == From::Html && paragraph.spans.isEmpty() && paragraph.marker.isEmpty())
        return;
    if (!paragraph.spans.isEmpty() && (paragraph.spans[0].looks & kDisplay) && paragraph.spans.size() == 1) {
        if (!paragraph.marker.isEmpty()) {
            Paragraph marker = paragraph;
            marker.spans.clear();
            addText(std::move(marker));
        }
        Block& maths = append(Block::Kind::Maths);
        maths.text = paragraph.spans[0].text;
        maths.formula = paragraph.spans[0].formula;
        return;
    }
    for (Span& span : paragraph.spans)
        span.looks &= ~kDisplay;
    addText(std::move(paragraph));
}

void BlockMaker::addText(Paragraph paragraph)
{
    const int indent = m_quotes > 0 ? m_quoteIndent : 0;
    const bool goesOn = !blocks.isEmpty() && blocks.last().kind == Block::Kind::Text &&
                        blocks.last().quotes == m_quotes && blocks.last().indent == indent;
    if (!goesOn)
        blocks.append({.kind = Block::Kind::Text, .indent = indent, .quotes = m_quotes});
    blocks.last().paragraphs.append(std::move(paragraph));
}

Block& BlockMaker::add(Block::Kind kind)
{
    giveTableUp();
    return append(kind);
}

Block& BlockMaker::append(Block::Kind kind)
{
    endParagraph();
    if (!m_marker.isEmpty()) {  // the item begins with a block that is no text: its marker gets an empty paragraph
        beginParagraph();
        endParagraph();
    }
    blocks.append({.kind = kind, .indent = m_depth, .quotes = m_quotes});
    return blocks.last();
}

// ---- quotes and lists ----

void BlockMaker::beginQuote()
{
    giveTableUp();
    endParagraph();
    if (m_quotes++ == 0)
        m_quoteIndent = m_depth;
}

void BlockMaker::endQuote()
{
    giveTableUp();
    endParagraph();
    --m_quotes;
}

void BlockMaker::beginList(bool ordered, int number, bool tight)
{
    giveTableUp();
    endParagraph();
    m_lists.push_back({ordered, number, tight});
}

void BlockMaker::endList()
{
    giveTableUp();
    endParagraph();
    m_lists.pop_back();
}

void BlockMaker::beginItem(const QString& box)
{
    giveTableUp();
    endParagraph();
    List& list = m_lists.back();
    ++m_depth;
    static constexpr QChar bullets[] = {u'•', u'◦', u'▪'};
    if (!box.isEmpty())
        m_marker = box;
    else if (list.ordered)
        m_marker = QString::number(list.next) + QLatin1Char('.');
    else
        m_marker = bullets[(m_depth - 1) % 3];
    if (list.next < 999'999'999)
        ++list.next;
    m_closeItem = list.tight;
}

void BlockMaker::endItem()
{
    giveTableUp();
    endParagraph();
    if (!m_marker.isEmpty()) {  // an empty item shows its marker, too
        beginParagraph();
        endParagraph();
    }
    --m_depth;
}

// ---- tables ----

void BlockMaker::beginTable()
{
    giveTableUp();
    endParagraph();
    m_table.emplace();
    m_taken.clear();
}

void BlockMaker::row()
{
    if (!m_table)
        return endParagraph();
    endCell();
    leaveTaken();
    m_table->rows.append(QList<Spans>());
}

void BlockMaker::cell(int columns, int rows)
{
    if (!m_table)
        return endParagraph();
    endCell();
    endParagraph();
    if (m_table->rows.isEmpty())
        row();
    leaveTaken();
    if (m_from == From::Html &&
        (m_table->rows.last().size() + columns > kMostHtmlColumns || (m_cells += columns) > kMostHtmlCells))
        return giveTableUp();
    m_inCell = true;
    m_cellColumns = columns;
    m_cellRows = rows;
}

void BlockMaker::headCell(Table::Align align)
{
    if (!m_table)
        return endParagraph();
    m_table->columns.append(align);
    cell();
}

void BlockMaker::endCell()
{
    if (!m_inCell)
        return endParagraph();
    m_inCell = false;
    m_gap = {};
    m_hiddenFrom = -1;
    QList<Spans>& row = m_table->rows.last();
    for (int i = 0; i < m_cellColumns; ++i) {
        if (m_taken.size() <= row.size())
            m_taken.resize(row.size() + 1);
        m_taken[row.size()] = m_cellRows - 1;
        row.append(std::exchange(m_cell, {}));
    }
}

/// Fills the next columns of the row with empty cells, as far as cells above reach into them.
void BlockMaker::leaveTaken()
{
    if (m_table->rows.isEmpty())
        return;
    QList<Spans>& row = m_table->rows.last();
    while (row.size() < m_taken.size() && m_taken[row.size()] > 0) {
        --m_taken[row.size()];
        row.append(Spans());
    }
}

void BlockMaker::endTable()
{
    if (!m_table)
        return endParagraph();
    endCell();
    addRows(std::move(*std::exchange(m_table, {})));
}

/// Adds the rows as a table, or as paragraphs where HTML uses a table of one row or column for layout only.
void BlockMaker::addRows(Table table)
{
    for (QList<Spans>& row : table.rows)
        while (!row.isEmpty() && row.last().isEmpty())
            row.removeLast();
    if (table.columns.isEmpty()) {
        table.rows.removeIf([](const QList<Spans>& row) { return row.isEmpty(); });
        for (const QList<Spans>& row : std::as_const(table.rows))
            table.columns.resize(qMax(table.columns.size(), row.size()));
        if (table.rows.size() < 2 || table.columns.size() < 2) {
            for (const QList<Spans>& row : std::as_const(table.rows)) {
                for (const Spans& cell : row) {
                    beginParagraph();
                    m_paragraph->spans = cell;
                    endParagraph();
                }
            }
            return;
        }
    }
    for (const QList<Spans>& row : std::as_const(table.rows))  // tags may have begun more cells than there are columns
        table.columns.resize(qMax(table.columns.size(), row.size()));
    append(Block::Kind::Table).table = std::move(table);
}

/// Ends the table of HTML that is open, since something comes that no cell can hold; its further rows become text.
void BlockMaker::giveTableUp()
{
    if (!m_table)
        return;
    const bool inCell = std::exchange(m_inCell, false);
    Spans cell = std::exchange(m_cell, {});
    m_gap = {};
    addRows(std::move(*std::exchange(m_table, {})));
    if (!inCell || cell.isEmpty())
        return;
    beginParagraph();
    m_paragraph->spans = std::move(cell);
}

// ---- text ----

void BlockMaker::look(Span::Look look, int by)
{
    m_looks[qCountTrailingZeroBits(quint8(look))] += by;
}

void BlockMaker::gap(QChar c)
{
    if (m_gap != QChar::LineSeparator)
        m_gap = c;
}

void BlockMaker::put(const QString& text, int looks, const QString& formula)
{
    if (text.isEmpty() && formula.isEmpty())
        return;
    if (!inParagraph())  // tight lists and HTML begin no paragraph
        beginParagraph(m_heading);
    looks |= m_outerLooks;
    for (size_t i = 0; i < m_looks.size(); ++i)
        looks |= m_looks[i] > 0 ? 1 << i : 0;
    const QString& link = m_link.isEmpty() ? m_outerLink : m_link;
    const QChar gap = std::exchange(m_gap, {});
    if (gap.isNull() || spans().isEmpty() || (gap == u' ' && endsWithSpace(spans().last())))
        return append(text, looks, link, formula);
    const Span& last = spans().last();
    const bool goesOn = last.looks == looks && last.link == link && formula.isEmpty();
    append(QString(gap), goesOn ? looks : 0, goesOn ? link : QString(), {});
    if (const QString rest = text.startsWith(u' ') ? text.mid(1) : text; !rest.isEmpty() || !formula.isEmpty())
        append(rest, looks, link, formula);
}

void BlockMaker::append(QString text, int looks, const QString& link, const QString& formula)
{
    text.replace(u'\n', QChar::LineSeparator);  // line breaks from entities and typed formulas
    Spans& to = spans();
    const bool goesOn = to.size() > qMax(qsizetype(0), m_hiddenFrom);
    if (formula.isEmpty() && goesOn && to.last().looks == looks && to.last().link == link)
        to.last().text += text;
    else
        to.append({text, looks, link, formula});
}

void BlockMaker::beginHidden()
{
    if (!inParagraph())
        beginParagraph();
    if (m_hiddenFrom < 0)
        m_hiddenFrom = spans().size();
}

void BlockMaker::endHidden()
{
    if (m_hiddenFrom >= 0 && inParagraph())
        spans().resize(m_hiddenFrom);
    m_hiddenFrom = -1;
}
