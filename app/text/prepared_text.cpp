#include "app/text/prepared_text.h"

#include "app/text/maths.h"
#include "app/text/shown_formula.h"

namespace {

// Formulas are taken out before md4c looks at the text, which would read their backslashes and underscores as its own.
// Each leaves these characters around its number; both are no characters of any text.
constexpr QChar kFormulaBegin(u'\uFDD0');
constexpr QChar kFormulaEnd(u'\uFDD1');

constexpr qsizetype kLongestLabel = 1000;  // by the rules of Markdown

qsizetype runOf(QStringView text, qsizetype at)
{
    qsizetype end = at;
    while (end < text.size() && text[end] == text[at])
        ++end;
    return end - at;
}

/// The end of the code between backticks that begins at `at`, or the end of the backticks if they close nowhere.
qsizetype codeEnd(QStringView text, qsizetype at)
{
    const qsizetype ticks = runOf(text, at);
    for (qsizetype i = at + ticks; i < text.size(); ++i) {
        if (text[i] != u'`')
            continue;
        const qsizetype run = runOf(text, i);
        if (run == ticks)
            return i + run;
        i += run - 1;
    }
    return at + ticks;
}

// "[label]: address" would vanish from sight; it is text, and its address a link like any other. Where other links lead
// to it is not md4c's business, which sees one piece of a text at a time.
bool isDefinition(QStringView text, qsizetype bracket)
{
    for (qsizetype i = bracket - 1; i >= 0 && text[i] != u'\n'; --i)
        if (!text[i].isSpace() && text[i] != u'>')
            return false;
    const qsizetype close = text.sliced(bracket, qMin(kLongestLabel, text.size() - bracket)).indexOf(u']');
    return close > 1 && bracket + close + 1 < text.size() && text[bracket + close + 1] == u':';
}

}  // namespace

QString PreparedText::restored(const QString& part) const
{
    if (!part.contains(kFormulaBegin))
        return part;
    QString out;
    for (qsizetype i = 0; i < part.size(); ++i) {
        if (const Formula* formula = at(part, i))
            out += formula->source;
        else
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
    qsizetype hopeless = 0;  // up to here \\(, \\[ and \\begin have been looked at and do not close
    for (qsizetype i = 0; i < text.size(); ++i) {
        const QChar c = text[i];
        if (c == u'`') {
            const qsizetype end = codeEnd(text, i);
            out.text += text.sliced(i, end - i);
            i = end - 1;
        } else if (const auto found = c == u'$' || (c == u'\\' && i >= hopeless) ? mathsAt(text, i) : std::nullopt) {
            out.text += kFormulaBegin + QString::number(out.formulas.size()) + kFormulaEnd;
            out.formulas.push_back({text.sliced(i, found->size).toString(), found->formula.toString(),
                                    shownFormula(found->formula), found->display});
            i += found->size - 1;
        } else if (c == u'\\' && i + 1 < text.size()) {
            if (text[i + 1] == u'(' || text[i + 1] == u'[' || !displayEnd(text.sliced(i)).isEmpty())
                hopeless = i + 500;
            out.text += text.sliced(i, 2);
            ++i;
        } else if (c == u'[' && isDefinition(text, i)) {
            out.text += QLatin1String("\\[");
        } else {
            out.text += c == kFormulaBegin || c == kFormulaEnd ? QChar(QChar::ReplacementCharacter) : c;
        }
    }
    if (!references.isEmpty())
        out.text += QLatin1String("\n\n") + references;
    return out;
}
