#include "app/text/prepared_text.h"

#include "app/text/lines.h"
#include "app/text/maths.h"
#include "app/text/shown_formula.h"

#include <algorithm>

namespace {

// Formulas are taken out before md4c reads the text, since it would take their backslashes and underscores for
// Markdown. In place of each stands its number between the first two of these characters. Unicode has no characters in
// these places, and a text that has them gets U+FFFD instead.
constexpr QChar kFormulaBegin(u'\uFDD0');
constexpr QChar kFormulaEnd(u'\uFDD1');
constexpr QChar kBracket(u'\uFDD2');    // in place of the [ of a definition
constexpr QChar kEmptyCell(u'\uFDD3');  // between two bars, where md4c would see no cell

constexpr qsizetype kLongestLabel = 1000;  // by the rules of Markdown, with room for surrogate pairs

bool isOurs(QChar c)
{
    return c >= kFormulaBegin && c <= kEmptyCell;
}

/// Returns where a line's own text begins, after the marks of quotes and items, and their boxes.
qsizetype textStart(QStringView text, qsizetype at)
{
    const auto isBox = [](QStringView rest) {
        return rest.size() > 3 && rest[0] == u'[' && QStringView(u" xX").contains(rest[1]) && rest[2] == u']' &&
               rest[3].isSpace();
    };
    for (; at < text.size() && text[at] != u'\n'; ++at) {
        if (isBox(text.sliced(at)))
            at += 2;
        else if (!text[at].isSpace() && !QStringView(u">-+*.)0123456789").contains(text[at]))
            break;
    }
    return at;
}

/// Copies a text for md4c, line by line.
class Copier
{
public:
    Copier(QStringView text, QString& to)
        : m_text(text)
        , m_to(to)
        , m_textStart(textStart(text, 0))
    {
    }

    void copy(qsizetype from, qsizetype end)
    {
        for (qsizetype i = from; i < end; ++i)
            copy(i);
    }

private:
    void copy(qsizetype at)
    {
        const QChar c = m_text[at];
        if (c == u'\n')
            m_textStart = textStart(m_text, at + 1);
        if (c == u'|' && at > 0 && m_text[at - 1] == u'|')
            m_to += kEmptyCell;
        if (c == u'[' && at == m_textStart && isDefinition(at))
            m_to += kBracket;
        else
            m_to += isOurs(c) ? QChar(QChar::ReplacementCharacter) : c;
    }

    // Says whether a line is "[label]: address". md4c would take it for a definition and not show it; here it is text,
    // and its address a link. Links that use the label are resolved by References, since md4c sees one piece of a text
    // at a time.
    bool isDefinition(qsizetype bracket)
    {
        if (m_closing <= bracket)
            for (m_closing = bracket + 1; m_closing < m_text.size() && m_text[m_closing] != u']'; ++m_closing)
                m_closing += m_text[m_closing] == u'\\' ? 1 : 0;
        return m_closing > bracket + 1 && m_closing <= bracket + 2 * kLongestLabel && m_closing + 1 < m_text.size() &&
               m_text[m_closing + 1] == u':';
    }

    const QStringView m_text;
    QString& m_to;
    qsizetype m_textStart;    // of the line
    qsizetype m_closing = 0;  // place of the next ], or the text's end
};

}  // namespace

QString PreparedText::restored(const QString& part) const
{
    if (std::none_of(part.begin(), part.end(), isOurs))
        return part;
    QString out;
    for (qsizetype i = 0; i < part.size(); ++i) {
        if (const Formula* formula = at(part, i))
            out += formula->source;
        else if (part[i] == kBracket)
            out += u'[';
        else if (part[i] != kEmptyCell)
            out += part[i];
    }
    return out;
}

const Formula* PreparedText::at(const QString& part, qsizetype& i) const
{
    if (part[i] != kFormulaBegin)
        return nullptr;
    const qsizetype end = part.indexOf(kFormulaEnd, i);
    const size_t number = QStringView(part).sliced(i + 1, qMax(qsizetype(0), end - i - 1)).toUInt();
    if (end < 0 || number >= formulas.size())
        return nullptr;
    i = end;
    return &formulas[number];
}

PreparedText prepareMarkdown(QStringView text, const QString& references)
{
    PreparedText out;
    out.text.reserve(text.size());
    Copier copier(text, out.text);
    qsizetype hopeless = 0;  // \\(, \\[ and \\begin before this place do not close
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar c = text[i];
        if (c == u'`') {
            const qsizetype end = codeEnd(text, i);
            copier.copy(i, end);
            i = end - 1;
        } else if (const auto found = c == u'$' || (c == u'\\' && i >= hopeless) ? mathsAt(text, i) : std::nullopt) {
            out.text += kFormulaBegin + QString::number(out.formulas.size()) + kFormulaEnd;
            out.formulas.push_back({text.sliced(i, found->size).toString(), found->formula.toString(),
                                    shownFormula(found->formula), found->display});
            i += found->size - 1;
        } else if (c == u'\\' && i + 1 < text.size()) {
            if (text[i + 1] == u'(' || text[i + 1] == u'[' || !displayEnd(text.sliced(i)).isEmpty())
                hopeless = i + 500;
            copier.copy(i, i + 2);
            ++i;
        } else {
            copier.copy(i, i + 1);
        }
    }
    if (!references.isEmpty())
        out.text += QLatin1String("\n\n") + references;
    return out;
}
