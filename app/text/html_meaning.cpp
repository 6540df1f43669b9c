#include "app/text/html_meaning.h"

#include <QHash>

#include <utility>

std::optional<HtmlMeaning> htmlMeaning(const QString& name)
{
    using Meaning = HtmlMeaning;
    static const QHash<QString, Meaning> all = [] {
        const std::pair<Meaning, const char*> names[] = {
            {Meaning::None,
             "abbr acronym audio bdi bdo big button canvas cite col colgroup del dfn embed font iframe ins "
             "kbd mark meter nobr picture progress q rp rt ruby samp small source span strike sub tbody "
             "tfoot thead tt u var video wbr"},
            {Meaning::Break, "br"},
            {Meaning::Image, "img"},
            {Meaning::Hidden, "script style svg"},
            {Meaning::Bold, "b strong"},
            {Meaning::Italic, "i em"},
            {Meaning::Code, "code"},
            {Meaning::Raised, "sup"},
            {Meaning::Link, "a"},
            {Meaning::Preformatted, "pre"},
            {Meaning::Block, "address article aside body caption center dd details dialog dir div dl dt fieldset "
                             "figcaption figure footer form head header html legend main nav p section"},
            {Meaning::Heading, "h1 h2 h3 h4 h5 h6"},
            {Meaning::Rule, "hr"},
            {Meaning::Summary, "summary"},
            {Meaning::Bullets, "ul"},
            {Meaning::Numbers, "ol"},
            {Meaning::Item, "li"},
            {Meaning::Quote, "blockquote"},
            {Meaning::Table, "table"},
            {Meaning::Row, "tr"},
            {Meaning::Cell, "td th"},
        };
        QHash<QString, Meaning> made;
        for (const auto& [meaning, list] : names)
            for (const QString& name : QString::fromLatin1(list).split(u' '))
                made.insert(name, meaning);
        return made;
    }();
    const auto found = all.find(name);
    return found == all.end() ? std::nullopt : std::optional(*found);
}
