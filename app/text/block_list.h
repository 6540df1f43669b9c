// BlockList holds the blocks of a text that is still growing.
#pragma once

#include "app/text/block.h"

#include <QStringView>

/// Holds the blocks of closed pieces, then those that show the open piece as if the text ended there, which are removed
/// before more text is added. Keeps blocks short enough to be laid out again, and tracks the first that changed. No
/// thread.
class BlockList
{
public:
    enum class Line { Whole, Cut };  // Cut: the beginning of a line that is too long to wait for its end

    const QList<Block>& blocks() const { return m_blocks; }
    /// Returns the first block that may have changed since the last call.
    qsizetype takeFirstChanged();

    qsizetype cells() const { return m_counts.cells; }   // of all tables, those missing at the end of rows included
    Line lastLine() const { return m_counts.lastLine; }  // of the code that was added last

    Block& add(Block block);
    void add(const QList<Block>& blocks);
    void addParagraph(Paragraph paragraph, int indent, int quotes);
    /// Begins a block of code, to which lines are added one by one.
    void startCode(const QString& language, int indent, int quotes);
    void addCodeLine(QStringView text, Line kind);
    /// Reopens the block of code that was added last; `last`: whether its last line was cut. False: the last block is
    /// no code.
    bool goOnWithCode(Line last);
    void addTable(const QList<Table::Align>& columns, const QList<Spans>& head, int indent = 0);
    void addRow(const QList<Spans>& cells);

    /// Begins and ends the blocks that show the open piece; takeBackOpen() removes them.
    void beginOpen();
    void endOpen();
    void takeBackOpen();
    /// Call it at the end of the text: blocks of the open piece stay.
    void close();
    /// Replaces all blocks.
    void replaceBy(QList<Block> blocks);

private:
    struct Counts {
        int codeLines = 0;  // in the last block
        Line lastLine = Line::Whole;
        qsizetype cells = 0;
    };

    Direction directionAround(const Block& block) const;
    Block& last();

    QList<Block> m_blocks;
    Counts m_counts;
    qsizetype m_firstChanged = 0;

    // State before the open piece's blocks were added.
    qsizetype m_closedRows = 0;
    Block m_lastClosed;
    Counts m_closedCounts;
    qsizetype m_changedBefore = 0;  // the first that had changed when the open piece began
    qsizetype m_firstOpen = 0;      // the first block that differs from then
};
