#include "app/text/html_tag.h"

namespace {

bool isLatinLetter(QChar c)
{
    return (c >= u'a' && c <= u'z') || (c >= u'A' && c <= u'Z');
}

bool isNameCharacter(QChar c)
{
    return isLatinLetter(c) || (c >= u'0' && c <= u'9') || c == u'-';
}

/// Reads a text from a place onwards; at the text's end it returns a null character.
class Scanner
{
public:
    explicit Scanner(QStringView text)
        : m_text(text)
    {
    }

    qsizetype at() const { return m_at; }
    QChar next() const { return m_at < m_text.size() ? m_text[m_at] : QChar(); }
    bool atEnd() const { return m_at >= m_text.size(); }

    bool take(QChar c)
    {
        if (next() != c || atEnd())
            return false;
        ++m_at;
        return true;
    }

    template <typename Wanted>
    QStringView takeWhile(Wanted wanted)
    {
        const qsizetype from = m_at;
        while (m_at < m_text.size() && wanted(m_text[m_at]))
            ++m_at;
        return m_text.sliced(from, m_at - from);
    }

private:
    QStringView m_text;
    qsizetype m_at = 0;
};

/// Takes the value after the "=" of name="value"; false: it does not end, or is no value.
bool takeValue(Scanner& scan, QString& value)
{
    scan.takeWhile(isHtmlSpace);
    const QChar quote = scan.next();
    if (quote == u'"' || quote == u'\'') {
        scan.take(quote);
        value = scan.takeWhile([quote](QChar c) { return c != quote; }).toString();
        return scan.take(quote);
    }
    value = scan.takeWhile([](QChar c) { return !isHtmlSpace(c) && !QStringView(u"\"'=<>`").contains(c); }).toString();
    return !value.isEmpty();
}

bool takeAttribute(Scanner& scan, HtmlTag& tag)
{
    const QString name = scan.takeWhile([](QChar c) { return isNameCharacter(c) || QStringView(u"_:.@").contains(c); })
                             .toString()
                             .toLower();
    if (name.isEmpty())
        return false;
    QString value;
    scan.takeWhile(isHtmlSpace);
    if (scan.take(u'=') && !takeValue(scan, value))
        return false;
    if (!tag.attributes.contains(name))
        tag.attributes.insert(name, value);
    return true;
}

std::optional<HtmlTag> takeTag(Scanner& scan)
{
    HtmlTag tag;
    if (!scan.take(u'<'))
        return {};
    tag.closing = scan.take(u'/');
    if (!isLatinLetter(scan.next()))
        return {};
    tag.name = scan.takeWhile(isNameCharacter).toString().toLower();
    while (!scan.take(u'>')) {
        const bool apart = !scan.takeWhile(isHtmlSpace).isEmpty() || tag.attributes.size() > 0;
        if (scan.next() == u'>' || (!tag.closing && scan.take(u'/')))
            continue;
        if (tag.closing || !apart || !takeAttribute(scan, tag))
            return {};
    }
    tag.size = scan.at();
    return tag;
}

}  // namespace

bool isHtmlSpace(QChar c)
{
    return c == u' ' || c == u'\t' || c == u'\n';
}

std::optional<HtmlTag> HtmlTag::at(QStringView text, qsizetype& looked)
{
    Scanner scan(text);
    std::optional<HtmlTag> tag = takeTag(scan);
    looked += scan.at();
    return tag;
}
