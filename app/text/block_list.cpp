#include "app/text/block_list.h"

#include "app/text/direction.h"
#include "app/text/highlighter.h"

#include <utility>

namespace {

constexpr qsizetype kLongText = 3000;  // in a block of text that may still grow
constexpr qsizetype kManyParagraphs = 40;
constexpr int kLongCode = 150;  // lines in a block of code that may still grow
constexpr qsizetype kLongCodeText = 8000;
constexpr qsizetype kManyCells = 240;  // in a block of a table that may still grow

qsizetype sizeOf(const Block& text)
{
    qsizetype size = 0;
    for (const Paragraph& paragraph : text.paragraphs)
        for (const Span& span : paragraph.spans)
            size += span.text.size();
    return size;
}

}  // namespace

qsizetype BlockList::takeFirstChanged()
{
    return std::exchange(m_firstChanged, m_blocks.size());
}

Block& BlockList::add(Block block)
{
    m_firstChanged = qMin(m_firstChanged, m_blocks.size());
    if (block.indent > 0 || block.quotes > 0)
        block.direction = directionAround(block);
    for (qsizetype row = 0; row < block.table.rows.size() && block.table.direction == Direction::Neutral; ++row)
        block.table.direction = directionOf(block.table.rows[row]);
    m_blocks.append(std::move(block));
    return m_blocks.last();
}

/// Returns the direction of the list or quote in which the next block stands, which is that of the block above it.
Direction BlockList::directionAround(const Block& block) const
{
    if (m_blocks.isEmpty())
        return Direction::Neutral;
    const Block& above = m_blocks.last();
    if (above.kind == Block::Kind::Text && (block.quotes == 0 || above.quotes > 0))
        return above.paragraphs.last().direction;
    return above.indent > 0 || above.quotes > 0 ? above.direction : Direction::Neutral;
}

Block& BlockList::last()
{
    m_firstChanged = qMin(m_firstChanged, m_blocks.size() - 1);
    return m_blocks.last();
}

void BlockList::addParagraph(Paragraph paragraph, int indent, int quotes)
{
    paragraph.direction = directionOf(paragraph.spans);
    const bool same =
        !m_blocks.isEmpty() && m_blocks.last().kind == Block::Kind::Text && m_blocks.last().indent == indent &&
        m_blocks.last().quotes == quotes &&
        (quotes == 0 || paragraph.direction == Direction::Neutral || m_blocks.last().direction == Direction::Neutral ||
         paragraph.direction == m_blocks.last().direction);
    const bool full =
        same && (sizeOf(m_blocks.last()) > kLongText || m_blocks.last().paragraphs.size() >= kManyParagraphs);
    const Direction above = same ? m_blocks.last().paragraphs.last().direction : Direction::Neutral;
    if (!same || full)
        add({.kind = Block::Kind::Text, .indent = indent, .quotes = quotes, .continues = full});
    Block& text = last();
    if (paragraph.direction == Direction::Neutral)
        paragraph.direction = above == Direction::Neutral ? text.direction : above;
    if (quotes > 0 && paragraph.direction != Direction::Neutral)
        text.direction = paragraph.direction;
    text.paragraphs.append(std::move(paragraph));
}

void BlockList::add(const QList<Block>& blocks)
{
    for (const Block& block : blocks) {
        if (block.kind == Block::Kind::Text) {
            for (const Paragraph& paragraph : block.paragraphs)
                addParagraph(paragraph, block.indent, block.quotes);
        } else if (block.kind == Block::Kind::Code) {
            startCode(block.language, block.indent, block.quotes);
            for (const QStringView codeLine : QStringView(block.text).tokenize(u'\n'))
                addCodeLine(codeLine, Line::Whole);
        } else if (block.kind == Block::Kind::Table && block.indent == 0 && block.quotes == 0) {
            addTable(block.table.columns, block.table.rows.first());
            for (const QList<Spans>& row : block.table.rows.sliced(1))
                addRow(row);
        } else {
            m_counts.cells += block.table.rows.size() * block.table.columns.size();
            add(block);
        }
    }
}

void BlockList::startCode(const QString& language, int indent, int quotes)
{
    add({.kind = Block::Kind::Code, .indent = indent, .quotes = quotes, .language = language});
    m_counts.codeLines = 0;
    m_counts.lastLine = Line::Whole;
}

void BlockList::addCodeLine(QStringView text, Line kind)
{
    const Block& full = m_blocks.last();
    if (m_counts.codeLines >= kLongCode || full.text.size() >= kLongCodeText) {
        Block next{.kind = Block::Kind::Code, .indent = full.indent, .quotes = full.quotes, .continues = true};
        next.language = full.language;
        next.state = stateAfter(full.language, full.text, full.state);
        last().lineOpen = m_counts.lastLine == Line::Cut;
        add(std::move(next));
        m_counts.codeLines = 0;
        m_counts.lastLine = Line::Whole;
    }
    Block& code = last();
    const bool newLine = m_counts.codeLines > 0 && m_counts.lastLine == Line::Whole;
    if (newLine)
        code.text += u'\n';
    code.text += text;
    m_counts.codeLines += newLine || m_counts.codeLines == 0 ? 1 : 0;
    m_counts.lastLine = kind;
}

bool BlockList::goOnWithCode(Line last)
{
    if (m_blocks.isEmpty() || m_blocks.last().kind != Block::Kind::Code)
        return false;
    if (m_blocks.last().text.isEmpty())
        m_counts.codeLines = 0;
    m_counts.lastLine = last;
    return true;
}

void BlockList::addTable(const QList<Table::Align>& columns, const QList<Spans>& head, int indent)
{
    m_counts.cells += columns.size();
    add({.kind = Block::Kind::Table, .indent = indent, .table = {columns, {head}}});
}

void BlockList::addRow(const QList<Spans>& cells)
{
    const Table& full = m_blocks.last().table;
    if (full.rows.size() > 1 && full.rows.size() * full.columns.size() >= kManyCells)
        add({.kind = Block::Kind::Table,
             .indent = m_blocks.last().indent,
             .continues = true,
             .table = {full.columns, {full.rows.first()}, full.direction}});
    Table& table = last().table;
    table.rows.append(cells);
    m_counts.cells += table.columns.size();
    if (table.direction == Direction::Neutral)
        table.direction = directionOf(cells);
}

void BlockList::beginOpen()
{
    m_closedRows = m_blocks.size();
    if (m_closedRows > 0)
        m_lastClosed = m_blocks.last();
    m_closedCounts = m_counts;
    m_changedBefore = std::exchange(m_firstChanged, m_closedRows);
}

void BlockList::endOpen()
{
    m_counts = m_closedCounts;
    m_firstOpen = std::exchange(m_firstChanged, qMin(m_changedBefore, m_firstChanged));
}

void BlockList::takeBackOpen()
{
    m_firstChanged = qMin(m_firstChanged, m_firstOpen);
    m_blocks.resize(m_closedRows);
    if (m_closedRows > 0)
        m_blocks.last() = m_lastClosed;
}

void BlockList::close()
{
    m_closedRows = m_firstOpen = m_blocks.size();
    if (!m_blocks.isEmpty())
        m_lastClosed = m_blocks.last();
}

void BlockList::replaceBy(QList<Block> blocks)
{
    m_blocks = std::move(blocks);
    m_firstChanged = 0;
}
