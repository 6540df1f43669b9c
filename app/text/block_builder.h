// Blocks of a text that is still growing.
#pragma once

#include "app/text/block.h"
#include "app/text/references.h"

#include <QStringView>

/// Makes the blocks of one Markdown text as it comes in, in pieces cut anywhere: the result is that of the whole text.
/// Lines are joined to pieces that begin and end at borders of blocks; only the piece that is still open is read again,
/// and it is kept short, so that each line costs the same however long the text is. No thread; owned by a BlockModel.
class BlockBuilder
{
public:
    /// Of all tables of a text, with those that their rows lack. They cost far more than other text, so the rows beyond
    /// are shown as they were written.
    static constexpr qsizetype kMostCells = 20'000;

    void append(QStringView text);
    void finish();  // no more text comes

    const QList<Block>& blocks() const { return m_blocks; }
    /// Blocks before this one have not changed since it was last asked.
    qsizetype takeFirstChanged();

private:
    enum class Mode { None, Paragraph, Item, Quote, Indented, Fenced, Maths, Table, RestOfTable };
    enum class Line { Whole, Cut };  // Cut: it goes on, but is too long to wait for

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
        int codeLines = 0;   // in the last block
        Line lastLine = Line::Whole;

        QList<Table::Align> columns;  // Table
        QList<Spans> head;
        qsizetype cells = 0;  // of all tables so far

        References references;  // named so far
    };

    void line(const QString& text, Line kind);
    void startLine(const QString& text, Line kind);
    bool startBlock(const QString& text);
    bool startMaths(const QString& text);
    bool startTable(const QString& text);
    void startItem(const QString& text);
    void startCode(const QString& language, int indent, int quotes);
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

    void addCodeLine(QStringView text, Line kind);
    void addRow(const QList<Spans>& cells);
    void addParagraph(Paragraph paragraph, int indent, int quotes);
    void add(const QList<Block>& blocks);
    Block& addBlock(Block block);
    Direction directionAround(const Block& block) const;
    Block& last();
    QList<Spans> cellsOf(QStringView line) const;
    void closePiece();
    void readAgain();

    void takeBackOpen();
    void showOpen();
    bool worthShowing(const QString& text) const;

    QList<Block> m_blocks;
    State m_state;
    QString m_line;  // the one that has not ended yet
    QString m_text;  // all of it, until it has ended

    // m_blocks as whole lines made them; what is beyond shows the open piece.
    qsizetype m_closedRows = 0;
    Block m_lastClosed;
    qsizetype m_firstOpen = 0;  // the first that is not as it was then

    qsizetype m_firstChanged = 0;
    bool m_begun = false;  // something that is no space has come
};
