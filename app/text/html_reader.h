// HtmlReader tells what the HTML within a Markdown text means.
#pragma once

#include "app/text/block_maker.h"
#include "app/text/html_meaning.h"
#include "app/text/html_tag.h"

#include <QList>
#include <QSet>
#include <QStringView>

#include <vector>

/// Headings, paragraphs, lists, quotes, tables, emphasis, code and links are made of their tags, and pictures are what
/// their description says. Other tags go, comments, scripts and styles with what is in them. What only looks like a tag
/// is text, and text means nothing else. No link leads elsewhere than safeLink() allows. Takes time in proportion to
/// the text. Owned by the reader of that text.
class HtmlReader
{
public:
    explicit HtmlReader(BlockMaker& maker)
        : m_maker(maker)
    {
    }

    /// Tags in a paragraph, or a whole block.
    void read(const QString& html);
    /// Marks that are open end, as with a paragraph of Markdown or a block of HTML.
    void endMarks();
    /// A container of Markdown begins or ends, and with it those that began inside.
    void beginContainer() { m_open.push_back({Container::Kind::Markdown}); }
    void endContainer();

    qsizetype looked() const { return m_looked; }  // at characters, those that were looked at again included

private:
    using Meaning = HtmlMeaning;

    struct Container {
        enum class Kind { List, Quote, Markdown };
        Kind kind;
        bool item = false;  // one is open
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
    int m_nested = 0;         // tables in the cell
    QSet<QString> m_removed;  // tags that HTML does not know
    qsizetype m_size = 0;     // of all that was read
    qsizetype m_looked = 0;
    qsizetype m_vain = 0;  // of them, where nothing was found
};
