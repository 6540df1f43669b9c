// BlockLines makes the blocks of a text from its lines.
#pragma once

#include "app/text/block_list.h"
#include "app/text/maths.h"
#include "app/text/open_fence.h"
#include "app/text/references.h"

/// Says what each line means by what is open. Lines are joined to pieces that begin and end at borders of blocks; only
/// the piece that is still open is read again, and it is kept short, so that each line costs the same however long the
/// text is. No thread; owned by a BlockBuilder.
class BlockLines
{
public:
    using Line = BlockList::Line;

    /// The most cells that all tables of a text may have, with those that their rows lack. They cost far more than
    /// other text, so the rows beyond are shown as they were written.
    static constexpr qsizetype kMostCells = 20'000;
    /// The most blocks that a text may have, each of which the page holds an item for: what comes after them is shown
    /// as it was written, many lines to a block.
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

    /// An item of which more lines may come than a piece holds.
    struct LongItem {
        qsizetype textAt;  // in the one around
        QChar listMark;
        int number;
    };

    /// All that decides what the next line means.
    struct State {
        Mode mode = Mode::None;
        QString open;            // the lines of the open piece
        bool afterBlank = true;  // the line before was blank
        bool cut = false;        // what comes next is the rest of a line
        bool mathsOpen = false;  // Paragraph: a formula has begun at the end of a line

        OpenFence fence;  // Fenced, Item, Quote

        QChar listMark;  // Item, or just after one: what its list is marked with
        qsizetype textAt = 0;
        int number = 0;
        bool goesOn = false;        // it is not the first of its list
        bool closeToLast = false;   // nor does a blank line part it from the one before
        QList<LongItem> longItems;  // each in the one before; what goes on with the last is read without its indent

        int blankLines = 0;  // Indented: seen, and code only if more follows

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
    void lineInside(const QString& text, Line kind = Line::Whole);  // of the item or quote that is open
    void splitPiece(Line kind);
    int lists() const { return int(m_state.longItems.size()); }  // in which a piece stands
    bool beginsBlock(const QString& text) const;
    QList<Spans> cellsOf(QStringView line) const;
    bool worthShowing(const QString& text) const;

    BlockList m_blocks;
    State m_state;
};
