#include "app/text/html_reader.h"

#include "app/text/entity.h"
#include "app/text/link.h"

#include <algorithm>
#include <utility>

namespace {

constexpr qsizetype kMostMarks = 16;
constexpr size_t kMostContainers = 20;
constexpr qsizetype kVainLooks = 16;  // times the text's size, looked at in vain; then no tags are looked for any more

bool hasValue(const HtmlTag& tag)
{
    return std::any_of(tag.attributes.begin(), tag.attributes.end(),
                       [](const QString& value) { return !value.isEmpty(); });
}

int numberOf(const HtmlTag& tag, const QString& attribute, int least, int most)
{
    return qBound(least, tag.attributes.value(attribute).toInt(), most);
}

}  // namespace

void HtmlReader::read(const QString& html)
{
    m_size += html.size();
    QStringView rest = html;
    for (qsizetype at = rest.indexOf(u'<'); at >= 0; at = rest.indexOf(u'<', at)) {
        const QStringView here = rest.sliced(at);
        qsizetype size = commentSize(here);
        const auto tag = size == 0 ? tagAt(here) : std::nullopt;
        if (size == 0 && !tag) {
            ++at;
            continue;
        }
        say(rest.first(at));
        if (tag)
            size = tag->size + apply(*tag, here.sliced(tag->size));
        rest = rest.sliced(at + size);
        at = 0;
    }
    say(rest);
}

qsizetype HtmlReader::commentSize(QStringView html)
{
    const qsizetype end = html.startsWith(u"<!--") ? find(html, QStringLiteral("-->")) : -1;
    return end < 0 ? 0 : end + 3;
}

/// Returns the tag at the beginning of `html`, if HTML has it, or if it has attributes, which plain words in angle
/// brackets have not.
std::optional<HtmlTag> HtmlReader::tagAt(QStringView html)
{
    if (m_vain > kVainLooks * m_size)
        return {};
    qsizetype looked = 0;
    std::optional<HtmlTag> tag = HtmlTag::at(html, looked);
    m_looked += looked;
    if (tag && !htmlMeaning(tag->name)) {
        if (tag->closing ? !m_removed.contains(tag->name) : !hasValue(*tag))
            tag.reset();
        else
            m_removed.insert(tag->name);
    }
    if (!tag)
        m_vain += looked;
    return tag;
}

qsizetype HtmlReader::find(QStringView html, const QString& what)
{
    if (m_vain > kVainLooks * m_size)
        return -1;
    const qsizetype found = html.indexOf(what, 0, Qt::CaseInsensitive);
    m_looked += found < 0 ? html.size() : found;
    m_vain += found < 0 ? html.size() : 0;
    return found;
}

void HtmlReader::say(QStringView text)
{
    if (text.isEmpty())
        return;
    if (isHtmlSpace(text.front()))
        m_maker.gap(u' ');
    QString words;
    for (const QChar c : text)
        if (!isHtmlSpace(c))
            words += c;
        else if (!words.isEmpty() && !words.endsWith(u' '))
            words += u' ';
    if (words.endsWith(u' '))
        words.chop(1);
    if (words.isEmpty())
        return;
    m_maker.put(withDecodedEntities(words));
    if (isHtmlSpace(text.back()))
        m_maker.gap(u' ');
}

// ---- tags ----

/// Applies a tag; returns how many characters after it belong to it.
qsizetype HtmlReader::apply(const HtmlTag& tag, QStringView after)
{
    const Meaning meaning = htmlMeaning(tag.name).value_or(Meaning::None);
    switch (meaning) {
    case Meaning::None:
        break;
    case Meaning::Break:
        m_maker.gap(QChar::LineSeparator);
        break;
    case Meaning::Image:
        m_maker.gap(u' ');
        say(tag.attributes.value(QStringLiteral("alt")));
        m_maker.gap(u' ');
        break;
    case Meaning::Hidden:
    case Meaning::Preformatted:
        return applyWhole(meaning, tag, after);
    case Meaning::Bold:
    case Meaning::Italic:
    case Meaning::Code:
    case Meaning::Link:
        applyMark(meaning, tag);
        break;
    case Meaning::Raised:
        if (!tag.closing)
            m_maker.put(QStringLiteral("^"));
        break;
    case Meaning::Block:
        m_maker.endParagraph();
        break;
    case Meaning::Heading:
        m_maker.endParagraph();
        m_maker.setHeading(tag.closing ? 0 : tag.name.back().digitValue());
        break;
    case Meaning::Summary:
        m_maker.endParagraph();
        applyMark(Meaning::Bold, tag);
        break;
    case Meaning::Rule:
        if (m_maker.inCell())
            m_maker.endParagraph();
        else
            m_maker.add(::Block::Kind::Rule);
        break;
    case Meaning::Bullets:
    case Meaning::Numbers:
    case Meaning::Item:
    case Meaning::Quote:
        applyContainer(meaning, tag);
        break;
    case Meaning::Table:
    case Meaning::Row:
    case Meaning::Cell:
        applyTable(meaning, tag);
        break;
    }
    return 0;
}

/// Takes all between a tag and its end at once, and returns its size. Within a paragraph of Markdown the end comes
/// later, or never: then only a mark or hiding begins.
qsizetype HtmlReader::applyWhole(Meaning meaning, const HtmlTag& tag, QStringView after)
{
    const qsizetype end = tag.closing ? -1 : find(after, QStringLiteral("</") + tag.name);
    const auto closing = end < 0 ? std::nullopt : tagAt(after.sliced(end));
    if (closing && closing->name == tag.name) {
        if (meaning == Meaning::Preformatted)
            m_maker.add(::Block::Kind::Code).text = codeOf(after.first(end));
        return end + closing->size;
    }
    if (end >= 0)
        m_vain += end;  // the found text is the end of another tag
    if (meaning == Meaning::Preformatted)
        applyMark(Meaning::Code, tag);
    else if (tag.closing)
        m_maker.endHidden();
    else
        m_maker.beginHidden();
    return 0;
}

void HtmlReader::applyMark(Meaning meaning, const HtmlTag& tag)
{
    if (meaning == Meaning::Link)
        m_maker.setOuterLink(safeLink(withDecodedEntities(tag.attributes.value(QStringLiteral("href")))));
    else if (!tag.closing && m_marks.size() < kMostMarks)
        m_marks.append(meaning);
    else if (tag.closing && m_marks.contains(meaning))
        m_marks.removeAt(m_marks.lastIndexOf(meaning));
    else
        return;
    showMarks();
}

void HtmlReader::showMarks()
{
    m_maker.setOuterLooks((m_marks.contains(Meaning::Bold) ? Span::Bold : 0) |
                          (m_marks.contains(Meaning::Italic) ? Span::Italic : 0) |
                          (m_marks.contains(Meaning::Code) ? Span::Code : 0));
}

void HtmlReader::endMarks()
{
    m_marks.clear();
    m_maker.setHeading(0);
    m_maker.setOuterLink({});
    showMarks();
}

void HtmlReader::applyContainer(Meaning meaning, const HtmlTag& tag)
{
    using Kind = Container::Kind;
    const bool inList = !m_open.empty() && m_open.back().kind == Kind::List;
    if (m_maker.inCell())
        return m_maker.endParagraph();
    if (meaning == Meaning::Item) {
        m_maker.endParagraph();
        if (inList && std::exchange(m_open.back().item, !tag.closing))
            m_maker.endItem();
        if (inList && !tag.closing)
            m_maker.beginItem();
    } else if (tag.closing) {
        end(meaning == Meaning::Quote ? Kind::Quote : Kind::List);
    } else if (m_open.size() >= kMostContainers) {
        m_maker.endParagraph();
    } else if (meaning == Meaning::Quote) {
        m_maker.beginQuote();
        m_open.push_back({Kind::Quote});
    } else {
        const QString start = QStringLiteral("start");
        const int first = tag.attributes.contains(start) ? numberOf(tag, start, 0, 999'999'999) : 1;
        m_maker.beginList(meaning == Meaning::Numbers, first, true);
        m_open.push_back({Kind::List});
    }
}

void HtmlReader::applyTable(Meaning meaning, const HtmlTag& tag)
{
    const bool inside = m_maker.inCell() && (m_nested > 0 || (meaning == Meaning::Table && !tag.closing));
    if (inside) {
        m_maker.endParagraph();
        if (meaning == Meaning::Table)
            m_nested += tag.closing ? -1 : 1;
        return;
    }
    m_nested = 0;
    endMarks();
    if (meaning == Meaning::Table && tag.closing)
        m_maker.endTable();
    else if (meaning == Meaning::Table)
        m_maker.beginTable();
    else if (tag.closing)
        m_maker.endCell();
    else if (meaning == Meaning::Row)
        m_maker.row();
    else
        m_maker.cell(numberOf(tag, QStringLiteral("colspan"), 1, 1000),
                     numberOf(tag, QStringLiteral("rowspan"), 1, 1000));
}

// ---- containers ----

void HtmlReader::endContainer()
{
    while (m_open.back().kind != Container::Kind::Markdown)
        endLast();
    m_open.pop_back();
}

/// Ends the innermost container of this kind and those within it; none that is outside of the innermost container of
/// Markdown's.
void HtmlReader::end(Container::Kind kind)
{
    size_t open = m_open.size();
    while (open > 0 && m_open[open - 1].kind != kind && m_open[open - 1].kind != Container::Kind::Markdown)
        --open;
    if (open == 0 || m_open[open - 1].kind != kind)
        return m_maker.endParagraph();
    while (m_open.size() >= open)
        endLast();
}

void HtmlReader::endLast()
{
    const Container last = m_open.back();
    m_open.pop_back();
    if (last.item)
        m_maker.endItem();
    if (last.kind == Container::Kind::Quote)
        m_maker.endQuote();
    else
        m_maker.endList();
}

/// Returns the code without its tags, which only colour it.
QString HtmlReader::codeOf(QStringView html)
{
    QString code;
    for (qsizetype i = 0; i < html.size(); ++i) {
        const auto tag = html[i] == u'<' ? tagAt(html.sliced(i)) : std::nullopt;
        if (!tag)
            code += html[i];
        else
            i += tag->size - 1;
        if (tag && tag->name == QLatin1String("br"))
            code += u'\n';
    }
    code = withDecodedEntities(code);
    while (code.endsWith(u'\n') || code.endsWith(u' '))
        code.chop(1);
    return code.startsWith(u'\n') ? code.mid(1) : code;
}
