// BlockMaker makes blocks of paragraphs, lists, quotes and tables as they begin and end.
#pragma once

#include "app/text/block.h"

#include <array>
#include <optional>
#include <vector>

/// Takes the parts of a piece of text in order, and makes blocks of them. A table of HTML that only serves for layout
/// becomes paragraphs. No thread; one object per piece.
class BlockMaker
{
public:
    enum class From { Markdown, Html };

    static constexpr int kDisplay = 0x100;  // a formula on lines of its own; not one of Span::Look

    /// From::Html: the piece may hold HTML, whose empty paragraphs are left out.
    explicit BlockMaker(From from, int lists = 0)  // lists around the piece
        : m_from(from)
        , m_depth(lists)
    {
    }

    QList<Block> blocks;

    int depth() const { return m_quotes + int(m_lists.size()); }  // containers in containers
    bool inParagraph() const { return m_paragraph || m_inCell; }
    bool inCell() const { return m_inCell; }

    void beginParagraph(int heading = 0);
    void setHeading(int level) { m_heading = level; }  // for paragraphs that begin without beginParagraph()
    void endParagraph();
    void beginQuote();
    void endQuote();
    void beginList(bool ordered, int number, bool tight);
    void endList();
    void beginItem(const QString& box = {});  // in place of the list's bullet or number
    void endItem();
    /// Adds a block that is neither text nor a table.
    Block& add(Block::Kind kind);

    void beginTable();
    void row();
    void cell(int columns = 1, int rows = 1);  // spans this many columns and rows
    void headCell(Table::Align align);         // a cell of the first row, with its column's alignment
    void endCell();
    void endTable();

    void look(Span::Look look, int by);                             // `by`: 1 opens one, -1 closes one
    void setLink(const QString& link) { m_link = link; }            // for text from here on; empty: none
    void setOuterLink(const QString& link) { m_outerLink = link; }  // for text without a link of its own
    void setOuterLooks(int looks) { m_outerLooks = looks; }         // for text from here on, besides its own looks
    void put(const QString& text, int looks = 0, const QString& formula = {});
    /// Puts a space or a line break before the next text, unless that begins a paragraph.
    void gap(QChar c);
    /// Hides the text that is put between these. If endHidden() does not come in the paragraph, it is shown after all.
    void beginHidden();
    void endHidden();

private:
    struct List {
        bool ordered;
        int next;
        bool tight;
    };

    Spans& spans() { return m_inCell ? m_cell : m_paragraph->spans; }
    void append(QString text, int looks, const QString& link, const QString& formula);
    void addText(Paragraph paragraph);
    Block& append(Block::Kind kind);
    void leaveTaken();
    void addRows(Table table);
    void giveTableUp();

    const From m_from;
    std::vector<List> m_lists;
    std::optional<Paragraph> m_paragraph;
    int m_heading = 0;
    QString m_marker;  // of an item whose text has not come yet
    int m_quotes = 0;
    int m_quoteIndent = 0;
    int m_depth;
    bool m_closeItem = false;
    std::array<int, 5> m_looks = {};  // how many of each look are open, by the place of its bit
    QString m_link, m_outerLink;
    int m_outerLooks = 0;
    QChar m_gap;
    qsizetype m_hiddenFrom = -1;  // first hidden span; -1: none

    std::optional<Table> m_table;
    bool m_inCell = false;
    Spans m_cell;
    int m_cellColumns = 1, m_cellRows = 1;
    QList<int> m_taken;     // by column: further rows that a cell above reaches into
    qsizetype m_cells = 0;  // of HTML's tables
};
