// BlockMaker makes blocks of paragraphs, lists, quotes and tables as they begin and end.
#pragma once

#include "app/text/block.h"

#include <array>
#include <optional>
#include <vector>

/// What a piece of text is made of, told in order. Where HTML says it, a table may turn out to be none: then its cells
/// are paragraphs. No thread; one object per piece.
class BlockMaker
{
public:
    enum class From { Markdown, Html };

    static constexpr int kDisplay = 0x100;  // a look of its own: a formula that wants lines of its own

    /// Html: there may be HTML in it, whose empty paragraphs are none.
    explicit BlockMaker(From from, int lists = 0)  // in how many the piece stands
        : m_from(from)
        , m_depth(lists)
    {
    }

    QList<Block> blocks;

    int depth() const { return m_quotes + int(m_lists.size()); }  // containers in containers
    bool inParagraph() const { return m_paragraph || m_inCell; }
    bool inCell() const { return m_inCell; }

    void beginParagraph(int heading = 0);
    void setHeading(int level) { m_heading = level; }  // of paragraphs that begin by themselves
    void endParagraph();
    void beginQuote();
    void endQuote();
    void beginList(bool ordered, int number, bool tight);
    void endList();
    void beginItem(const QString& box = {});  // in place of the list's bullet or number
    void endItem();
    /// A block that is no text; nor a table, which comes row by row.
    Block& add(Block::Kind kind);

    void beginTable();
    void row();
    void cell(int columns = 1, int rows = 1);  // over so many
    void headCell(Table::Align align);         // of the first row, where it says how the columns stand
    void endCell();
    void endTable();

    void look(Span::Look look, int by);                             // one more or one less of them is open
    void setLink(const QString& link) { m_link = link; }            // of what is put from here on; empty: none
    void setOuterLink(const QString& link) { m_outerLink = link; }  // where there is no other
    void setOuterLooks(int looks) { m_outerLooks = looks; }         // beside the others
    void put(const QString& text, int looks = 0, const QString& formula = {});
    /// A space or a line break before what is put next, if that goes on with something.
    void gap(QChar c);
    /// Shows nothing of what is put between these. If the end never comes, it is shown after all.
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
    std::array<int, 5> m_looks = {};  // by the place of their bit
    QString m_link, m_outerLink;
    int m_outerLooks = 0;
    QChar m_gap;
    qsizetype m_hiddenFrom = -1;  // among the spans

    std::optional<Table> m_table;
    bool m_inCell = false;
    Spans m_cell;
    int m_cellColumns = 1, m_cellRows = 1;
    QList<int> m_taken;     // by column: how many more rows a cell above reaches into
    qsizetype m_cells = 0;  // of HTML's tables
};
