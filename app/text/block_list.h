// BlockList holds the blocks of a text that is still growing.
#pragma once

#include "app/text/block.h"

#include <QStringView>

/// The blocks that whole lines made, then those that show the open piece as if the text ended there, which are taken
/// back before more comes. Keeps blocks short enough to be laid out again, and knows from where they changed. No
/// thread.
class BlockList
{
public:
    enum class Line { Whole, Cut };  // Cut: it goes on, but is too long to wait for

    const QList<Block>& blocks() const { return m_blocks; }
    /// Blocks before this one have not changed since it was last asked.
    qsizetype takeFirstChanged();

    qsizetype cells() const { return m_counts.cells; }   // of all tables, with those that their rows lack
    Line lastLine() const { return m_counts.lastLine; }  // of the code that was added last

    Block& add(Block block);
    void add(const QList<Block>& blocks);
    void addParagraph(Paragraph paragraph, int indent, int quotes);
    /// Code goes to a block at once, line by line.
    void startCode(const QString& language, int indent, int quotes);
    void addCodeLine(QStringView text, Line kind);
    /// The code that was added last goes on after all; `last` is how its last line ended. False: there is no code.
    bool goOnWithCode(Line last);
    void addTable(const QList<Table::Align>& columns, const QList<Spans>& head, int indent = 0);
    void addRow(const QList<Spans>& cells);

    /// What is added from here on shows the open piece.
    void beginOpen();
    void endOpen();
    void takeBackOpen();
    /// Nothing is open any more.
    void close();
    /// Shows these blocks instead.
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

    // As whole lines made them; what is beyond shows the open piece.
    qsizetype m_closedRows = 0;
    Block m_lastClosed;
    Counts m_closedCounts;
    qsizetype m_changedBefore = 0;  // the first that had changed when the open piece began
    qsizetype m_firstOpen = 0;      // the first that is not as it was then
};
