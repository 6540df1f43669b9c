// TableDocument writes a table into a TextEdit.
#pragma once

#include "app/blocks/block_document.h"

#include <QTextTable>
#include <QVariant>

/// Writes the cells of a table and gives its columns their widths: as wide as their text where there is room, else
/// narrower, but never so narrow that words are cut to pieces; then the table is wider than the page.
class TableDocument : public BlockDocument
{
    Q_OBJECT
    QML_ELEMENT
    Q_PROPERTY(QVariant table READ table WRITE setTable NOTIFY tableChanged)
    Q_PROPERTY(qreal available MEMBER m_available WRITE setAvailable NOTIFY availableChanged)
    Q_PROPERTY(qreal width READ width NOTIFY widthChanged)
    Q_PROPERTY(bool mirrored READ mirrored NOTIFY tableChanged)  // its first column is on the right
    Q_PROPERTY(
        QList<qreal> lines READ lines NOTIFY linesChanged)  // pixels from the top to where each row but the last ends

public:
    QVariant table() const { return QVariant::fromValue(m_table); }
    void setTable(const QVariant& table);
    void setAvailable(qreal available);
    qreal width() const { return m_width; }
    bool mirrored() const { return m_table.direction == Direction::RightToLeft; }
    QList<qreal> lines() const { return m_lines; }

Q_SIGNALS:
    void tableChanged();
    void availableChanged();
    void widthChanged();
    void linesChanged();

protected:
    void write() override;
    void forget() override { m_cells.clear(); }

private:
    void writeRow(int row);
    int placeOf(int column) const;
    void measure();
    void setWidths();
    void findLines();

    Table m_table;
    Table m_written;
    QPointer<QTextTable> m_cells;
    QList<qreal> m_natural;  // pixels that each column's text takes unbroken
    qreal m_available = 0;
    qreal m_width = 0;
    QList<qreal> m_lines;
};
