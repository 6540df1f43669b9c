#include "app/text/maths.h"

#include <algorithm>
#include <array>

namespace {

constexpr qsizetype kLongestInline = 1000;
constexpr qsizetype kLongestDisplay = 3000;
constexpr qsizetype kLongestName = 14;  // of an environment, with its closing brace

/// Returns the position of the first unescaped `close` from `at` on, before any blank line; -1: there is none.
qsizetype closing(QStringView text, qsizetype at, QStringView close, qsizetype longest)
{
    const qsizetype end = qMin(text.size(), at + longest);
    for (qsizetype i = at; i < end; ++i) {
        if (text.sliced(i).startsWith(close))
            return i;
        if (text[i] == u'\\')
            ++i;
        else if (text[i] == u'\n' && i + 1 < end && text[i + 1] == u'\n')
            return -1;
    }
    return -1;
}

bool looksLikeFormula(QStringView text)
{
    for (const QChar c : text)
        if (QStringView(u"\\^_={}<>+").contains(c))
            return true;
    return !text.front().isDigit() || !text.contains(u' ');
}

std::optional<MathsSpan> between(QStringView text, qsizetype at, qsizetype open, QStringView close, bool display)
{
    const qsizetype start = at + open;
    const qsizetype end = closing(text, start, close, display ? kLongestDisplay : kLongestInline);
    if (end < 0)
        return {};
    const QStringView formula = text.sliced(start, end - start).trimmed();
    if (formula.isEmpty())
        return {};
    return MathsSpan{at, end + close.size() - at, formula, display};
}

std::optional<MathsSpan> betweenDollars(QStringView text, qsizetype at)
{
    const bool afterWord = at > 0 && (text[at - 1].isLetterOrNumber() || text[at - 1] == u'$');  // US$
    if (afterWord || at + 2 >= text.size() || text[at + 1].isSpace())
        return {};
    const qsizetype end = closing(text, at + 1, u"$", kLongestInline);
    if (end <= at + 1 || text[end - 1].isSpace())
        return {};
    const bool beforeNumber = end + 1 < text.size() && text[end + 1].isDigit();  // the second $ begins an amount
    const QStringView formula = text.sliced(at + 1, end - at - 1);
    if (beforeNumber || !looksLikeFormula(formula))
        return {};
    return MathsSpan{at, end + 1 - at, formula, false};
}

/// Returns the name of the environment that begins here, where that is a formula without other marks; else empty.
QStringView environmentAt(QStringView text)
{
    static constexpr std::array<QStringView, 12> names = {u"align",  u"aligned",  u"alignat",  u"alignedat",
                                                          u"gather", u"gathered", u"equation", u"split",
                                                          u"cases",  u"rcases",   u"array",    u"CD"};
    static constexpr QStringView begin = u"\\begin{";
    if (!text.startsWith(begin))
        return {};
    const QStringView rest = text.sliced(begin.size(), std::min(text.size() - begin.size(), kLongestName));
    const QStringView name = rest.first(std::max<qsizetype>(0, rest.indexOf(u'}')));
    const QStringView plain = name.endsWith(u'*') ? name.chopped(1) : name;  // a * means "without a number"
    const bool known = std::ranges::find(names, plain) != names.end() || plain.endsWith(u"matrix");
    return known ? name : QStringView();
}

QString endOfEnvironment(QStringView name)
{
    return QStringLiteral("\\end{%1}").arg(name);
}

/// Finds an environment from its \begin to its \end, with nested ones of the same name.
std::optional<MathsSpan> environment(QStringView text, qsizetype at, QStringView name)
{
    const QString begin = QStringLiteral("\\begin{%1}").arg(name), close = endOfEnvironment(name);
    for (qsizetype size = begin.size();;) {
        const qsizetype end = closing(text, at + size, close, kLongestDisplay - size);
        if (end < 0)
            return {};
        size = end + close.size() - at;
        const QStringView whole = text.sliced(at, size);
        if (whole.count(begin) == whole.count(close))
            return MathsSpan{at, size, whole, true};
    }
}

}  // namespace

std::optional<MathsSpan> mathsAt(QStringView text, qsizetype at)
{
    const QStringView rest = text.sliced(at);
    if (rest.startsWith(u"$$"))
        return between(text, at, 2, u"$$", true);
    if (rest.startsWith(u'$'))
        return betweenDollars(text, at);
    if (rest.startsWith(u"\\("))
        return between(text, at, 2, u"\\)", false);
    if (rest.startsWith(u"\\["))
        return between(text, at, 2, u"\\]", true);
    if (const QStringView name = environmentAt(rest); !name.isEmpty())
        return environment(text, at, name);
    return {};
}

QString displayEnd(QStringView text)
{
    if (text.startsWith(u"$$"))
        return QStringLiteral("$$");
    if (text.startsWith(u"\\["))
        return QStringLiteral("\\]");
    const QStringView name = environmentAt(text);
    return name.isEmpty() ? QString() : endOfEnvironment(name);
}
