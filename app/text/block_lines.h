// BlockLines makes the blocks of a text from its lines.
#pragma once

#include "app/text/block_list.h"
#include "app/text/maths.h"
#include "app/text/open_fence.h"
#include "app/text/references.h"

/// Decides what each line means by the piece that is open. Lines are joined to pieces, which begin and end at the
/// borders of blocks. Only the open piece is read again, and it is kept short, so that each line costs the same however
/// long the text is. No thread; owned by a BlockBuilder.
class BlockLines
{
public:
    using Line = BlockList::Line;

    /// The most cells that all tables of a text may have, cells missing at the end of rows included. Cells cost far
    /// more than other text, so further rows are shown as they were written.
    static constexpr qsizetype kMostCells = 20'000;
    /// The most blocks that a text may have, since the page holds an item for each: further text is shown as it was
    /// written, many lines to a block.
    static constexpr qsizetype kMostBlocks = 10'000;

    void add(const QString& text, Line kind);
    /// Ends the piece of text that is open.
    void closePiece();
    /// Shows what is open as if the text ended after `line`, which may still grow.
    void showOpen(const QString& line);

    BlockList& blocks() { return m_blocks; }
    const BlockList& blocks() const { return m_blocks; }
    const References& references() const { return m_state.references; }  // named so far
    void setReferences(const References& references) { m_state.references = references; }

private:
    enum class Mode { None, Paragraph, Item, Quote, Indented, Fenced, Maths, Table, RestOfTable, RestOfText };

    /// A list item that is longer than a piece, and was split.
    struct LongItem {
        qsizetype textAt;  // column of its text in the item around it
        QChar listMark;
        int number;
    };

    /// Holds all that decides what the next line means.
    struct State {
        Mode mode = Mode::None;
        QString open;            // the lines of the open piece
        bool afterBlank = true;  // the line before was blank
        bool cut = false;        // the next text is the rest of a cut line
        bool mathsOpen = false;  // Paragraph: a formula has begun at the end of a line

        OpenFence fence;  // Fenced, Item, Quote

        QChar listMark;  // Item, or just after one: what its list is marked with
        qsizetype textAt = 0;
        int number = 0;
        bool goesOn = false;        // Item: it is not the first of its list
        bool closeToLast = false;   // and no blank line stands before it
        QList<LongItem> longItems;  // each within the one before; their lines are read without their indent

        int blankLines = 0;  // Indented: not added yet; part of the code only if more follows

        QList<Table::Align> columns;  // Table

        References references;  // named so far
    };

    QString withoutLongItems(const QString& text);
    void addLine(const QString& text, Line kind);
    void startLine(const QString& text, Line kind);
    bool startBlock(const QString& text);
    bool startMaths(const QString& text);
    bool startTable(const QString& text);
    void addMaths(const MathsSpan& maths);
    void startItem(const QString& text);
    void lineOfParagraph(const QString& text, Line kind);
    void noteMaths(const QString& text);
    void lineOfItem(const QString& text, Line kind);
    void lineOfQuote(const QString& text, Line kind);
    void lineOfIndented(const QString& text, Line kind);
    void lineOfFenced(const QString& text, Line kind);
    void lineOfMaths(const QString& text);
    void lineOfTable(const QString& text, Line kind);
    void beginRestOfTable();
    void beginRestOfText();
    void beginRest(Mode rest, const QString& note);
    void lineInside(const QString& text, Line kind = Line::Whole);  // adds a line to the open item or quote
    void splitPiece(Line kind);
    int lists() const { return int(m_state.longItems.size()); }  // long items around the open piece
    bool beginsBlock(const QString& text) const;
    QList<Spans> cellsOf(QStringView line) const;
    bool worthShowing(const QString& text) const;

    BlockList m_blocks;
    State m_state;
};
