#include "app/blocks/table_document.h"

#include "app/text/direction.h"

#include <QAbstractTextDocumentLayout>
#include <QFontMetricsF>
#include <QHash>
#include <QTextBlock>

#include <algorithm>
#include <cmath>

namespace {

constexpr qreal kBeside = 12;  // pixels between a cell's text and its border
constexpr qreal kAbove = 7;
constexpr qreal kWidest = 340;     // pixels of a column when there is no room
constexpr qreal kNarrowest = 110;  // pixels; no column is made narrower for want of room
constexpr int kTableLineHeight = 120;

Qt::Alignment aligned(Table::Align align)
{
    return align == Table::Align::Center  ? Qt::AlignHCenter
           : align == Table::Align::Right ? Qt::AlignRight | Qt::AlignAbsolute
                                          : Qt::AlignLeft;  // on the right for text from right to left
}

}  // namespace

void TableDocument::setTable(const QVariant& table)
{
    m_table = table.value<Table>();
    if (ready())
        write();
    Q_EMIT tableChanged();
}

void TableDocument::setAvailable(qreal available)
{
    if (m_available == available)
        return;
    m_available = available;
    Q_EMIT availableChanged();
    if (ready() && m_cells) {
        setWidths();
        findLines();
    }
}

void TableDocument::write()
{
    if (m_table.rows.isEmpty() || m_table.columns.isEmpty())
        return;
    const bool grows = m_cells && m_written.columns == m_table.columns && m_written.direction == m_table.direction &&
                       m_table.rows.size() >= m_written.rows.size() && m_cells->rows() == m_written.rows.size();
    QTextCursor cursor(text());
    cursor.beginEditBlock();
    qsizetype same = 0;
    if (grows) {
        while (same < m_written.rows.size() && m_written.rows[same] == m_table.rows[same])
            ++same;
        if (m_table.rows.size() > m_written.rows.size())
            m_cells->appendRows(int(m_table.rows.size() - m_written.rows.size()));
    } else {
        text()->clear();
        cursor = QTextCursor(text());
        QTextTableFormat format;
        format.setBorder(0);
        format.setCellSpacing(0);
        format.setCellPadding(0);
        m_cells = cursor.insertTable(int(m_table.rows.size()), int(m_table.columns.size()), format);
        // A document always has a paragraph after a table; this one takes no room.
        QTextCursor end(text());
        end.movePosition(QTextCursor::End);
        QTextBlockFormat none;
        none.setLineHeight(0, QTextBlockFormat::FixedHeight);
        end.setBlockFormat(none);
    }
    for (qsizetype row = same; row < m_table.rows.size(); ++row)
        writeRow(int(row));
    m_written = m_table;
    measure();
    setWidths();
    cursor.endEditBlock();
    findLines();
}

void TableDocument::writeRow(int row)
{
    QTextCharFormat look;
    look.setProperty(QTextFormat::FontPixelSize, m_bodySize - 1);
    if (row == 0)
        look.setFontWeight(QFont::DemiBold);
    for (int column = 0; column < m_table.columns.size(); ++column) {
        QTextTableCell cell = m_cells->cellAt(row, placeOf(column));
        QTextTableCellFormat padding;
        padding.setLeftPadding(kBeside);
        padding.setRightPadding(kBeside);
        padding.setTopPadding(kAbove);
        padding.setBottomPadding(kAbove - 3);  // the extra height of a line lies below its letters
        cell.setFormat(padding);
        QTextCursor cursor = cell.firstCursorPosition();
        cursor.setPosition(cell.lastCursorPosition().position(), QTextCursor::KeepAnchor);
        cursor.removeSelectedText();
        const Spans text = m_table.rows[row].value(column);
        const Direction own = directionOf(text);
        const bool fromRight = (own == Direction::Neutral ? m_table.direction : own) == Direction::RightToLeft;
        QTextBlockFormat format;
        format.setLayoutDirection(fromRight ? Qt::RightToLeft : Qt::LeftToRight);
        format.setAlignment(aligned(m_table.columns[column]));
        format.setLineHeight(kTableLineHeight, QTextBlockFormat::ProportionalHeight);
        cursor.setBlockFormat(format);
        insert(cursor, text, look);
    }
}

/// Returns the place of a column from the left, since Qt lays out every table from left to right.
int TableDocument::placeOf(int column) const
{
    return mirrored() ? int(m_table.columns.size()) - 1 - column : column;
}

void TableDocument::measure()
{
    QHash<int, QFontMetricsF> metrics;  // by the looks that change a font
    const auto widthOf = [&](const Span& span, QStringView line, bool head) {
        const int looks = (span.looks & (Span::Bold | Span::Italic | Span::Code)) | (head ? Span::Bold : 0);
        auto known = metrics.constFind(looks);
        if (known == metrics.cend()) {
            QFont font = looks & Span::Code ? QFont(m_monospace) : text()->defaultFont();
            font.setPixelSize(m_bodySize - 1);
            font.setItalic(looks & Span::Italic);
            if (looks & Span::Bold && !(looks & Span::Code))
                font.setWeight(QFont::DemiBold);
            known = metrics.insert(looks, QFontMetricsF(font));
        }
        const QString text = line.left(200).toString();
        // A slanted letter reaches beyond where the next one would begin, and needs the room at a line's end.
        const qreal beyond = text.isEmpty() ? 0 : qMax(0.0, -known->rightBearing(text.back()));
        return known->horizontalAdvance(text) + beyond;
    };
    m_natural.fill(0, m_table.columns.size());  // by their places from the left
    for (qsizetype row = 0; row < m_table.rows.size(); ++row) {
        for (qsizetype column = 0; column < qMin(m_table.rows[row].size(), m_natural.size()); ++column) {
            qreal width = 0, widest = 0;  // of the line so far, and of the widest line
            for (const Span& span : m_table.rows[row][column]) {
                const QList<QStringView> lines = QStringView(span.text).split(QChar::LineSeparator);
                for (qsizetype line = 0; line < lines.size(); ++line) {
                    width = (line > 0 ? 0 : width) + widthOf(span, lines[line], row == 0);
                    widest = qMax(widest, width);
                }
            }
            qreal& natural = m_natural[placeOf(int(column))];
            natural = qMax(natural, std::ceil(widest) + 2 * kBeside + 2);
        }
    }
}

void TableDocument::setWidths()
{
    const auto total = [this](qreal widest) {
        qreal sum = 0;
        for (const qreal natural : std::as_const(m_natural))
            sum += qMin(natural, widest);
        return sum;
    };
    // Finds the width to which the widest columns are cut, so that all of them fit.
    qreal widest = qMax(m_available, kWidest);
    if (total(widest) > m_available) {
        qreal low = kNarrowest, high = widest;
        for (int step = 0; step < 20; ++step) {
            const qreal middle = (low + high) / 2;
            (total(middle) > m_available ? high : low) = middle;
        }
        widest = total(low) > m_available ? kWidest / 2 : low;
    }
    QList<QTextLength> widths;
    for (const qreal natural : std::as_const(m_natural))
        widths.append(QTextLength(QTextLength::FixedLength, std::floor(qMin(natural, widest))));
    QTextTableFormat format = m_cells->format();
    if (format.columnWidthConstraints() != widths) {
        format.setColumnWidthConstraints(widths);
        m_cells->setFormat(format);
    }
    qreal width = 0;
    for (const QTextLength& length : std::as_const(widths))
        width += length.rawValue();
    if (m_width == width)
        return;
    m_width = width;
    Q_EMIT widthChanged();
}

void TableDocument::findLines()
{
    QList<qreal> lines;
    for (int row = 1; row < m_cells->rows(); ++row) {
        const QTextBlock first = m_cells->cellAt(row, 0).firstCursorPosition().block();
        lines.append(std::round(text()->documentLayout()->blockBoundingRect(first).top() - kAbove));
    }
    if (m_lines == lines)
        return;
    m_lines = lines;
    Q_EMIT linesChanged();
}

#include "moc_table_document.cpp"
