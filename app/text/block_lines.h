// BlockLines makes the blocks of a text from its lines.
#pragma once

#include "app/text/block_list.h"
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

    void add(const QString& text, Line kind);
    /// What was open ends here.
    void closePiece();
    /// Shows what is open as if the text ended after `line`, which may still grow.
    void showOpen(const QString& line);

    BlockList& blocks() { return m_blocks; }
    const BlockList& blocks() const { return m_blocks; }
    const References& references() const { return m_state.references; }  // named so far
    void setReferences(const References& references) { m_state.references = references; }

private:
    enum class Mode { None, Paragraph, Item, Quote, Indented, Fenced, Maths, Table, RestOfTable };

    /// All that decides what the next line means.
    struct State {
        Mode mode = Mode::None;
        QString open;            // the lines of the open piece
        bool afterBlank = true;  // the line before was blank

        QString fence;  // Fenced: what closes it
        qsizetype fenceIndent = 0;

        QChar listMark;  // Item, or just after one: what its list is marked with
        qsizetype textAt = 0;
        int number = 0;
        bool goesOn = false;       // it is not the first of its list
        bool closeToLast = false;  // nor does a blank line part it from the one before
        QString nestedFence;       // Item, Quote: code is open inside

        int blankLines = 0;  // Indented: seen, and code only if more follows

        QList<Table::Align> columns;  // Table

        References references;  // named so far
    };

    void startLine(const QString& text, Line kind);
    bool startBlock(const QString& text);
    bool startMaths(const QString& text);
    bool startTable(const QString& text);
    void startItem(const QString& text);
    void lineOfParagraph(const QString& text, Line kind);
    void lineOfItem(const QString& text, Line kind);
    void lineOfQuote(const QString& text, Line kind);
    void lineOfIndented(const QString& text, Line kind);
    void lineOfFenced(const QString& text, Line kind);
    void lineOfMaths(const QString& text);
    void lineOfTable(const QString& text, Line kind);
    void beginRestOfTable();
    void lineInside(const QString& text);  // of the item or quote that is open
    bool beginsBlock(const QString& text) const;
    QList<Spans> cellsOf(QStringView line) const;
    bool worthShowing(const QString& text) const;

    BlockList m_blocks;
    State m_state;
};
