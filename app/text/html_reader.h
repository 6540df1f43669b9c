// HtmlReader applies the HTML within a Markdown text.
#pragma once

#include "app/text/block_maker.h"
#include "app/text/html_meaning.h"
#include "app/text/html_tag.h"

#include <QList>
#include <QSet>
#include <QStringView>

#include <vector>

/// Makes headings, paragraphs, lists, quotes, tables, emphasis, code and links of their tags, and shows the description
/// of a picture. Other tags are left out; comments, scripts and styles with what is in them. Text that only looks like
/// a tag is shown, and text in a block of HTML is not read as Markdown. Links lead only where safeLink() allows. Takes
/// time in proportion to the text. Owned by the reader of that text.
class HtmlReader
{
public:
    explicit HtmlReader(BlockMaker& maker)
        : m_maker(maker)
    {
    }

    /// Reads tags in a paragraph, or a whole block of HTML.
    void read(const QString& html);
    /// Ends bold, italic, code, links and headings that are open. Call it at the end of a paragraph of Markdown or a
    /// block of HTML.
    void endMarks();
    /// Call these where a list or quote of Markdown begins and ends; HTML's containers that began inside end with it.
    void beginContainer() { m_open.push_back({Container::Kind::Markdown}); }
    void endContainer();

    qsizetype looked() const { return m_looked; }  // characters, those that were looked at again included

private:
    using Meaning = HtmlMeaning;

    struct Container {
        enum class Kind { List, Quote, Markdown };
        Kind kind;
        bool item = false;  // an item of the list is open
    };

    qsizetype commentSize(QStringView html);
    std::optional<HtmlTag> tagAt(QStringView html);
    qsizetype find(QStringView html, const QString& what);
    void say(QStringView text);
    qsizetype apply(const HtmlTag& tag, QStringView after);
    qsizetype applyWhole(Meaning meaning, const HtmlTag& tag, QStringView after);
    void applyMark(Meaning meaning, const HtmlTag& tag);
    void applyContainer(Meaning meaning, const HtmlTag& tag);
    void applyTable(Meaning meaning, const HtmlTag& tag);
    void showMarks();
    void end(Container::Kind kind);
    void endLast();
    QString codeOf(QStringView html);

    BlockMaker& m_maker;
    std::vector<Container> m_open;
    QList<Meaning> m_marks;
    int m_nested = 0;         // tables within the open cell
    QSet<QString> m_removed;  // unknown tags that were left out
    qsizetype m_size = 0;     // of all that was read
    qsizetype m_looked = 0;
    qsizetype m_vain = 0;  // characters that were looked at in vain
};
