#include "app/text/block_builder.h"

#include "app/text/direction.h"
#include "app/text/highlighter.h"
#include "app/text/markdown.h"

#include <utility>

namespace {

constexpr qsizetype kLongestLine = 4000;  // a longer one is cut, at a space where there is one
constexpr qsizetype kLongText = 3000;     // in a block of text that may still grow
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

/// Marks that are open where a text stops growing for a moment, closed: else they show until their partners come.
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

}  // namespace

void BlockBuilder::append(QStringView text)
{
    if (!m_begun) {  // many models begin with a space or line breaks
        while (!text.isEmpty() && text.front().isSpace())
            text = text.sliced(1);
        m_begun = !text.isEmpty();
    }
    if (text.isEmpty())
        return;
    takeBackOpen();
    m_text += text;
    while (!text.isEmpty()) {
        const qsizetype room = kLongestLine - m_line.size();
        const qsizetype lineEnd = text.first(qMin(room, text.size())).indexOf(u'\n');
        const qsizetype part = lineEnd >= 0 ? lineEnd : qMin(room, text.size());
        m_line += text.first(part);
        text = text.sliced(part);
        if (lineEnd >= 0) {
            text = text.sliced(1);
            line(std::exchange(m_line, {}), Line::Whole);
        } else if (m_line.size() == kLongestLine) {
            qsizetype cut = m_line.lastIndexOf(u' ') + 1;
            if (cut < kLongestLine / 2)
                cut = kLongestLine - (m_line.back().isHighSurrogate() ? 1 : 0);
            const QString rest = m_line.mid(cut);
            line(m_line.first(cut), Line::Cut);
            m_line = rest;
        }
    }
    showOpen();
}

void BlockBuilder::finish()
{
    takeBackOpen();
    if (!m_line.isEmpty())
        line(std::exchange(m_line, {}), Line::Whole);
    closePiece();
    if (!m_state.references.isEmpty() && !m_text.isEmpty())
        readAgain();
    m_text.clear();
    m_closedRows = m_firstOpen = m_blocks.size();
    if (!m_blocks.isEmpty())
        m_lastClosed = m_blocks.last();
}

/// Most texts name at their end where their links lead.
void BlockBuilder::readAgain()
{
    BlockBuilder again;
    again.m_state.references = m_state.references;
    again.append(m_text);
    again.m_text.clear();
    again.finish();
    m_blocks = std::move(again.m_blocks);
    m_firstChanged = 0;
}

qsizetype BlockBuilder::takeFirstChanged()
{
    return std::exchange(m_firstChanged, m_blocks.size());
}

// ---- the open piece, shown as if the text ended here ----

void BlockBuilder::takeBackOpen()
{
    m_firstChanged = qMin(m_firstChanged, m_firstOpen);
    m_blocks.resize(m_closedRows);
    if (m_closedRows > 0)
        m_blocks.last() = m_lastClosed;
}

void BlockBuilder::showOpen()
{
    m_closedRows = m_blocks.size();
    if (m_closedRows > 0)
        m_lastClosed = m_blocks.last();
    const qsizetype changed = std::exchange(m_firstChanged, m_closedRows);
    const State closed = m_state;

    if (!m_line.isEmpty() && worthShowing(m_line))
        line(m_line, Line::Whole);
    if (m_state.mode == Mode::Paragraph && m_state.open.startsWith(u'|') && m_state.open.count(u'\n') < 2)
        m_state.open.clear();  // the head of a table, in all likelihood
    if (m_state.mode == Mode::Maths) {
        addBlock({.kind = Block::Kind::Maths, .text = m_state.open.trimmed().mid(2).trimmed()});
        m_state.open.clear();
    } else if (m_state.nestedFence.isEmpty()) {
        m_state.open = withClosedMarks(m_state.open);
    }
    closePiece();

    m_state = closed;
    m_firstOpen = std::exchange(m_firstChanged, qMin(changed, m_firstChanged));
}

/// False for a line that holds only the marks of something, as "1." or "##": what they mean is seen in a moment.
bool BlockBuilder::worthShowing(const QString& text) const
{
    const QStringView trimmed = QStringView(text).trimmed();
    if (m_state.mode == Mode::Fenced)
        return trimmed.isEmpty() || trimmed.count(m_state.fence[0]) < trimmed.size();
    if (m_state.mode == Mode::Indented || trimmed.size() > 20)
        return true;
    if (m_state.mode == Mode::Table)
        return trimmed.size() > 1;
    static constexpr QStringView marks = u"`~#>*+-_=|:.)$\\[] 0123456789";
    for (const QChar c : trimmed)
        if (!marks.contains(c))
            return true;
    return false;
}

// ---- blocks ----

Block& BlockBuilder::addBlock(Block block)
{
    m_firstChanged = qMin(m_firstChanged, m_blocks.size());
    if (block.indent > 0 || block.quotes > 0)
        block.direction = directionAround(block);
    for (qsizetype row = 0; row < block.table.rows.size() && block.table.direction == Direction::Neutral; ++row)
        block.table.direction = directionOf(block.table.rows[row]);
    m_blocks.append(std::move(block));
    return m_blocks.last();
}

/// Of the list or quote in which the next block stands: as what is above it there.
Direction BlockBuilder::directionAround(const Block& block) const
{
    if (m_blocks.isEmpty())
        return Direction::Neutral;
    const Block& above = m_blocks.last();
    if (above.kind == Block::Kind::Text && (block.quotes == 0 || above.quotes > 0))
        return above.paragraphs.last().direction;
    return above.indent > 0 || above.quotes > 0 ? above.direction : Direction::Neutral;
}

Block& BlockBuilder::last()
{
    m_firstChanged = qMin(m_firstChanged, m_blocks.size() - 1);
    return m_blocks.last();
}

void BlockBuilder::addCodeLine(QStringView text, Line kind)
{
    const Block& full = m_blocks.last();
    if (m_state.codeLines >= kLongCode || full.text.size() >= kLongCodeText) {
        Block next{.kind = Block::Kind::Code, .indent = full.indent, .quotes = full.quotes, .continues = true};
        next.language = full.language;
        next.state = stateAfter(full.language, full.text, full.state);
        last().lineOpen = m_state.lastLine == Line::Cut;
        addBlock(std::move(next));
        m_state.codeLines = 0;
        m_state.lastLine = Line::Whole;
    }
    Block& code = last();
    const bool newLine = m_state.codeLines > 0 && m_state.lastLine == Line::Whole;
    if (newLine)
        code.text += u'\n';
    code.text += text;
    m_state.codeLines += newLine || m_state.codeLines == 0 ? 1 : 0;
    m_state.lastLine = kind;
}

void BlockBuilder::addRow(const QList<Spans>& cells)
{
    const Table& full = m_blocks.last().table;
    if (full.rows.size() > 1 && full.rows.size() * full.columns.size() >= kManyCells)
        addBlock({.kind = Block::Kind::Table,
                  .continues = true,
                  .table = {m_state.columns, {m_state.head}, full.direction}});
    Table& table = last().table;
    table.rows.append(cells);
    m_state.cells += table.columns.size();
    if (table.direction == Direction::Neutral)
        table.direction = directionOf(cells);
}

void BlockBuilder::addParagraph(Paragraph paragraph, int indent, int quotes)
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
        addBlock({.kind = Block::Kind::Text, .indent = indent, .quotes = quotes, .continues = full});
    Block& text = last();
    if (paragraph.direction == Direction::Neutral)
        paragraph.direction = above == Direction::Neutral ? text.direction : above;
    if (quotes > 0 && paragraph.direction != Direction::Neutral)
        text.direction = paragraph.direction;
    text.paragraphs.append(std::move(paragraph));
}

void BlockBuilder::add(const QList<Block>& blocks)
{
    for (const Block& block : blocks) {
        if (block.kind == Block::Kind::Text) {
            for (const Paragraph& paragraph : block.paragraphs)
                addParagraph(paragraph, block.indent, block.quotes);
        } else if (block.kind == Block::Kind::Code) {
            startCode(block.language, block.indent, block.quotes);
            for (const QStringView codeLine : QStringView(block.text).tokenize(u'\n'))
                addCodeLine(codeLine, Line::Whole);
        } else {
            m_state.cells += block.table.rows.size() * block.table.columns.size();
            addBlock(block);
        }
    }
}

/// Of one row of the table that is open.
QList<Spans> BlockBuilder::cellsOf(QStringView line) const
{
    return parseTableRow(line, m_state.columns.size(), m_state.references.usedBy(line));
}

/// What was open ends here.
void BlockBuilder::closePiece()
{
    const Mode mode = std::exchange(m_state.mode, Mode::None);
    m_state.nestedFence.clear();
    m_state.afterBlank = false;
    m_state.blankLines = 0;
    const QString piece = std::exchange(m_state.open, {});
    if (piece.isEmpty() || mode == Mode::None)
        return;
    if (mode == Mode::Paragraph)
        m_state.references.take(piece);
    QList<Block> blocks =
        parseMarkdown(piece, {.listNumber = mode == Mode::Item ? std::optional(m_state.number) : std::nullopt,
                              .tables = mode != Mode::Paragraph,  // of those outside, each row is read by itself
                              .cells = qMin(MarkdownPlace().cells, kMostCells - m_state.cells),
                              .references = m_state.references.usedBy(piece)});
    if (mode == Mode::Item && !blocks.isEmpty() && !blocks[0].paragraphs.isEmpty())
        blocks[0].paragraphs[0].close = m_state.closeToLast;
    add(blocks);
}
